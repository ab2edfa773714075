internal import Architecture
internal import CElfutils
internal import ELF
internal import Glibc

// Raw memory: relocations and stubs are read where the file is mapped.

/// Names the stubs through which a module calls functions of other modules.
///
/// A stub jumps through a slot of the global offset table, and a relocation tells whose address the
/// loader puts there. We read the jump itself instead of counting entries. This works for `.plt`,
/// `.plt.sec` and `.plt.got` of any linker, and cannot be off by one. Only for our own architecture.
final class PLTStubs {
    private let file: ELFFile
    /// The stub sections: their ranges, their bytes, and the size of a stub.
    private let sections: [(range: Range<UInt64>, bytes: UnsafeRawBufferPointer, size: Int)]
    private lazy var relocations = PLTRelocations(file)

    init(_ file: ELFFile) {
        self.file = file
        let isOurs = file.machine == Machine.elfNumber
        sections = file.sections.indices.compactMap { index in
            let section = file.sections[index]
            guard isOurs, [".plt", ".plt.sec", ".plt.got"].contains(section.name), section.isCode,
                section.address < section.end
            else { return nil }
            // A linker may omit the entry size (or, for `.plt.got`, give 8 or 16).
            let size = section.entrySize == 8 ? 8 : Self.largestStub
            return (section.address..<section.end, file.bytes(ofSection: index), size)
        }
    }

    /// The mangled name of the function that the stub at `address` leads to; nil if there is no
    /// stub, or one without a name (the first, which calls the loader).
    func target(of address: UInt64) -> UnsafeRawBufferPointer? {
        guard let section = sections.first(where: { $0.range.contains(address) }),
            let distance = Int(exactly: address - section.range.lowerBound),
            distance < section.bytes.count
        else { return nil }
        let offset = distance / section.size * section.size
        let code = [UInt8](section.bytes[offset...].prefix(Self.largestStub))
        let stub = [UInt8](code.prefix(section.size))
        // The first stub of a `.plt` has such a jump, too, but no relocation names its slot.
        let start = section.range.lowerBound &+ UInt64(offset)
        if let slot = StubCode.slot(of: stub, at: start) { return relocations.name(ofSlot: slot) }
        return StubCode.pushedIndex(of: code).flatMap { relocations.name(ofJump: $0) }
    }

    private static let largestStub = 16
}

/// The symbol of each slot of the global offset table.
private struct PLTRelocations {
    private let symbols: ELFSymbolTable?
    private var symbolOfSlot: [UInt64: UInt32] = [:]
    private var symbolOfJump: [UInt32] = []

    init(_ file: ELFFile) {
        symbols = file.symbolTables(isDynamic: true).first
        for (index, section) in file.sections.enumerated()
        where section.type == UInt32(SHT_RELA) && section.flags & UInt64(SHF_ALLOC) != 0 {
            read(file.bytes(ofSection: index), isJumps: section.name == ".rela.plt")
        }
    }

    private mutating func read(_ bytes: UnsafeRawBufferPointer, isJumps: Bool) {
        let size = MemoryLayout<Elf64_Rela>.size
        for index in 0..<(bytes.count / size) {
            let entry = bytes.loadUnaligned(fromByteOffset: index * size, as: Elf64_Rela.self)
            let symbol = UInt32(truncatingIfNeeded: entry.r_info >> 32)
            if isJumps { symbolOfJump.append(symbol) }
            let kind = UInt32(truncatingIfNeeded: entry.r_info)
            if symbol != 0, RelocationKind.fillsSlot(kind) {
                symbolOfSlot[entry.r_offset] = symbol
            }
        }
    }

    func name(ofSlot slot: UInt64) -> UnsafeRawBufferPointer? {
        symbolOfSlot[slot].flatMap(name(ofSymbol:))
    }

    func name(ofJump index: Int) -> UnsafeRawBufferPointer? {
        guard symbolOfJump.indices.contains(index) else { return nil }
        return name(ofSymbol: symbolOfJump[index])
    }

    private func name(ofSymbol index: UInt32) -> UnsafeRawBufferPointer? {
        guard index != 0, let symbols, let entry = symbols.entry(Int(index)) else { return nil }
        return symbols.name(at: entry.name)
    }
}
