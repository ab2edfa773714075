internal import CElfutils
internal import ELF

/// A code symbol, as compact as possible: libraries have 300,000 of them.
struct ELFSymbol {
    var start: UInt64
    /// One past the last address; equal to `start` if the size is unknown.
    var end: UInt64
    /// Where its name starts in its table's strings.
    var name: UInt32
    /// The index of its table among the module's.
    var table: UInt16
    var kind: Kind
    var binding: Binding

    /// The better kind first, to choose among the names of one address.
    enum Kind: UInt8 { case function, untyped, object }
    enum Binding: UInt8 { case global, weak, local }
}

extension ELFSymbol {
    /// nil if the symbol does not name code of this file: undefined, absolute and thread-local
    /// symbols, sections, files, local labels.
    init?(_ entry: ELFSymbolTable.Entry, table: Int) {
        guard entry.isDefined, entry.section != UInt16(SHN_ABS),
            entry.name != 0, let kind = Kind(entry.type)
        else { return nil }
        self.kind = kind
        binding = Binding(entry.binding)
        start = entry.address
        let (end, overflows) = start.addingReportingOverflow(entry.size)
        self.end = overflows ? start : end
        name = entry.name
        self.table = UInt16(truncatingIfNeeded: table)
    }
}

extension ELFSymbol.Kind {
    init?(_ type: UInt8) {
        switch Int32(type) {
        case STT_FUNC, STT_GNU_IFUNC: self = .function
        case STT_NOTYPE: self = .untyped
        case STT_OBJECT: self = .object
        default: return nil
        }
    }
}

extension ELFSymbol.Binding {
    init(_ value: UInt8) {
        switch Int32(value) {
        case STB_GLOBAL, STB_GNU_UNIQUE: self = .global
        case STB_WEAK: self = .weak
        default: self = .local
        }
    }
}
