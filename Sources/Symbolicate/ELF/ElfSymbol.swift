internal import CElfutils
internal import Glibc

// Raw memory: symbols and their names are read where the file is mapped.

/// A symbol of code, as small as it can be: libraries have 300,000 of them.
struct ElfSymbol {
    var start: UInt64
    /// One past the last address; equal to `start` for a symbol of unknown size.
    var end: UInt64
    /// Where its name starts in its table's strings.
    var name: UInt32
    /// Which of the module's tables it is from.
    var table: UInt16
    var kind: Kind
    var binding: Binding

    /// The better one first, for choosing among the names of one address.
    enum Kind: UInt8 { case function, untyped, object }
    enum Binding: UInt8 { case global, weak, local }
}

/// One `.symtab` or `.dynsym` with its strings.
struct ElfSymbolTable {
    let symbols: UnsafeRawBufferPointer
    let strings: UnsafeRawBufferPointer
    /// `.dynsym`, which lacks local symbols.
    let isDynamic: Bool

    static let entrySize = MemoryLayout<Elf64_Sym>.size

    var count: Int { symbols.count / Self.entrySize }

    func entry(_ index: Int) -> Elf64_Sym? {
        guard index >= 0, index < count else { return nil }
        return symbols.loadUnaligned(
            fromByteOffset: index * Self.entrySize, as: Elf64_Sym.self)
    }

    func name(at offset: UInt32) -> UnsafeRawBufferPointer? {
        strings.text(at: Int(offset))
    }
}

extension ElfFile {
    /// The file's symbol tables, those that are more than the empty first entry.
    var symbolTables: [ElfSymbolTable] {
        sections.indices.compactMap { index in
            let type = sections[index].type
            guard type == UInt32(SHT_SYMTAB) || type == UInt32(SHT_DYNSYM) else { return nil }
            let table = ElfSymbolTable(
                symbols: bytes(ofSection: index),
                strings: bytes(ofSection: Int(sections[index].link)),
                isDynamic: type == UInt32(SHT_DYNSYM))
            return table.count > 1 ? table : nil
        }
    }
}

extension ElfSymbol {
    /// nil for what names no code of this file: undefined, absolute, thread-local, sections,
    /// files, local labels.
    init?(_ entry: Elf64_Sym, table: Int) {
        guard entry.st_shndx != UInt16(SHN_UNDEF), entry.st_shndx != UInt16(SHN_ABS),
            entry.st_name != 0, let kind = Kind(entry.st_info & 0xF)
        else { return nil }
        self.kind = kind
        binding = Binding(entry.st_info >> 4)
        start = entry.st_value
        let (end, overflows) = start.addingReportingOverflow(entry.st_size)
        self.end = overflows ? start : end
        name = entry.st_name
        self.table = UInt16(truncatingIfNeeded: table)
    }
}

extension ElfSymbol.Kind {
    init?(_ type: UInt8) {
        switch Int32(type) {
        case STT_FUNC, STT_GNU_IFUNC: self = .function
        case STT_NOTYPE: self = .untyped
        case STT_OBJECT: self = .object
        default: return nil
        }
    }
}

extension ElfSymbol.Binding {
    init(_ value: UInt8) {
        switch Int32(value) {
        case STB_GLOBAL, STB_GNU_UNIQUE: self = .global
        case STB_WEAK: self = .weak
        default: self = .local
        }
    }
}
