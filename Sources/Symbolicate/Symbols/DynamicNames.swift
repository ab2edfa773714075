internal import Architecture
internal import CElfutils
internal import ELF
internal import Glibc
internal import ProfileModel

// Raw memory: symbols, names and relocations are read where the file is mapped.

/// The names in a file's dynamic symbol table: the names that other files must define, and the
/// names that it defines for others. They are stored as hashes: if two names have the same hash,
/// more names seem to be needed than really are.
struct DynamicNames: Sendable {
    var wanted: [UInt64] = []
    var defined: [UInt64] = []
}

extension ELFFile {
    /// nil: unknown, because the file has no table of sections, or a larger one than we read.
    ///
    /// A program may be linked to copy a variable out of a library (`stdout`, `std::cout`). Then
    /// both define it, and the copy's relocation tells that the program wants it.
    var dynamicNames: DynamicNames? {
        guard sections.count > 1 else { return nil }
        // A file has at most one.
        guard let index = sections.firstIndex(where: { $0.type == UInt32(SHT_DYNSYM) }) else {
            return DynamicNames()
        }
        guard let table = symbolTables(isDynamic: true).first else { return DynamicNames() }
        let copied = copiedSymbols(of: index)
        var names = DynamicNames()
        var room = Self.mostNameBytes
        for number in 1..<max(table.count, 1) {
            guard let entry = table.entry(number), entry.binding != UInt8(STB_LOCAL),
                let name = table.name(at: entry.name), !name.isEmpty
            else { continue }
            room -= name.count
            guard room >= 0 else { return nil }
            let hash = name.fingerprint
            if entry.isDefined { names.defined.append(hash) }
            if !entry.isDefined || copied.contains(number) { names.wanted.append(hash) }
        }
        return names
    }

    /// For all names together; Chromium's have 3 MB.
    private static let mostNameBytes = 64 << 20

    /// The entries of a dynamic symbol table that are copied into this file when it is loaded.
    private func copiedSymbols(of table: Int) -> Set<Int> {
        guard let copy = RelocationKind.copy(on: machine) else { return [] }
        var result: Set<Int> = []
        for (index, section) in sections.enumerated()
        where section.type == UInt32(SHT_RELA) && Int(section.link) == table {
            let entries = bytes(ofSection: index)
            let size = MemoryLayout<Elf64_Rela>.size
            for offset in stride(from: 0, through: entries.count - size, by: size) {
                // Address, information, addend.
                guard let information = entries.number(UInt64.self, at: offset + 8),
                    UInt32(truncatingIfNeeded: information) == copy
                else { continue }
                result.insert(Int(information >> 32))
            }
        }
        return result
    }
}
