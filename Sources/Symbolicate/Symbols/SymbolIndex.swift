internal import CElfutils
internal import ELF
internal import Glibc

/// The code symbols of a module, from all its tables, by address.
///
/// A symbol covers `[value, value + size)` and nothing else. A symbol without a size (common in
/// assembler) covers up to the next symbol, the next function in the unwind table, or the end of
/// its section, whichever comes first. This holds only in modules with a `.symtab`: after
/// stripping, the next remaining symbol may be many functions away.
///
/// Among several names for the same bytes, the order is: a function before an untyped label before
/// an object; exported before local; fewer leading underscores (`write`, not `__write`); the one
/// that DWARF gives the function (equal functions may have been folded into one); global before
/// weak; the shorter; the alphabetically first.
///
/// Threads share it: the memory that it points to does not change while the files live.
struct SymbolIndex: @unchecked Sendable {
    let tables: [ELFSymbolTable]
    /// Sorted by start, then the longest first: aliases are side by side.
    private let symbols: [ELFSymbol]
    private let map: IntervalMap
    /// The starts of symbols whose end was guessed.
    private let guessed: Set<UInt64>

    struct Match {
        /// The best name, mangled. Valid while the files live.
        var name: UnsafeRawBufferPointer
        /// True if the symbol is certainly a function: it has the type of one, and a size of its
        /// own rather than a guessed end.
        var isCertain: Bool
    }

    /// - Parameters:
    ///   - tables: valid while their files live.
    ///   - code: the code sections, which limit the extents.
    ///   - functionStarts: where functions start by the unwind table, ascending; may be empty.
    ///     Called only if there are symbols without a size.
    init(tables: [ELFSymbolTable], code: CodeSections, functionStarts: () -> [UInt64]) {
        var symbols = Self.collect(tables, code: code)
        symbols.sort(by: Self.isOrderedBefore)
        let hasLocals = tables.contains { !$0.isDynamic }
        if hasLocals, symbols.contains(where: { $0.end == $0.start }) {
            let extents = Extents(code: code, functionStarts: functionStarts())
            guessed = extents.complete(&symbols)
        } else {
            guessed = []
        }
        symbols.removeAll { $0.end <= $0.start }
        self.tables = tables
        self.symbols = symbols
        map = IntervalMap(sorted: Self.intervals(of: symbols))
    }

    /// The symbol that covers an address; nil if there is none.
    /// - Parameter known: the mangled name that DWARF gives the function there.
    func match(_ address: UInt64, known: UnsafeRawBufferPointer? = nil) -> Match? {
        guard let position = map[address] else { return nil }
        let first = symbols[Int(position)]
        var best: Candidate?
        // No real symbol has so many aliases, and a fabricated file must not cost seconds.
        for symbol in symbols[Int(position)...].prefix(256) {
            guard symbol.start == first.start, symbol.end == first.end else { break }
            guard let candidate = Candidate(symbol, name(of: symbol), known: known)
            else { continue }
            if best.map({ candidate.isBetter(than: $0) }) ?? true { best = candidate }
        }
        return best.map {
            let isGuess = guessed.contains(first.start)
            return Match(name: $0.name, isCertain: !isGuess && $0.symbol.kind == .function)
        }
    }

    /// The name to show for the physical function at an address. The symbol's name is preferred to
    /// DWARF's: it has the parameters (C++), it tells a `.cold` part from its function, and it does
    /// not depend on debug information.
    /// - Parameters:
    ///   - known: the mangled name that DWARF gives it.
    ///   - other: DWARF's name.
    func physicalName(
        at address: UInt64, known: UnsafeRawBufferPointer?, _ names: NameCache,
        _ other: () -> NameCache.Name?
    ) -> NameCache.Name? {
        guard let match = match(address, known: known) else { return other() }
        if !match.isCertain, let name = other() { return name }
        return names.name(match.name)
    }

    private func name(of symbol: ELFSymbol) -> UnsafeRawBufferPointer? {
        tables[Int(symbol.table)].name(at: symbol.name)
    }

    // MARK: - Building

    private static func collect(_ tables: [ELFSymbolTable], code: CodeSections) -> [ELFSymbol] {
        var result: [ELFSymbol] = []
        result.reserveCapacity(tables.reduce(0) { $0 + $1.count })
        for (number, table) in tables.enumerated().prefix(Int(UInt16.max)) {
            for index in 1..<max(table.count, 1) {
                guard let entry = table.entry(index),
                    var symbol = ELFSymbol(entry, table: number),
                    let section = code.section(holding: symbol.start)
                else { continue }
                symbol.end = min(symbol.end, section.upperBound)
                result.append(symbol)
            }
        }
        return result
    }

    private static func isOrderedBefore(_ left: ELFSymbol, _ right: ELFSymbol) -> Bool {
        left.start != right.start ? left.start < right.start : left.end > right.end
    }

    /// One interval for all aliases of the same bytes; its value is the position of the first one.
    private static func intervals(of symbols: [ELFSymbol]) -> [IntervalMap.Interval] {
        var result: [IntervalMap.Interval] = []
        result.reserveCapacity(symbols.count)
        for (position, symbol) in symbols.enumerated() {
            if let last = result.last, last.start == symbol.start, last.end == symbol.end {
                continue
            }
            guard let value = Int32(exactly: position) else { break }
            result.append(
                IntervalMap.Interval(start: symbol.start, end: symbol.end, value: value))
        }
        return result
    }
}

/// A name that could be shown for an address.
private struct Candidate {
    var symbol: ELFSymbol
    var name: UnsafeRawBufferPointer
    var underscores: Int
    var isKnown: Bool

    init?(
        _ symbol: ELFSymbol, _ name: UnsafeRawBufferPointer?, known: UnsafeRawBufferPointer?
    ) {
        guard let name, !name.isEmpty else { return nil }
        self.symbol = symbol
        self.name = name
        underscores = name.prefix(8).prefix { $0 == UInt8(ascii: "_") }.count
        isKnown = known.map { $0.elementsEqual(name) } ?? false
    }

    func isBetter(than other: Candidate) -> Bool {
        if symbol.kind != other.symbol.kind {
            return symbol.kind.rawValue < other.symbol.kind.rawValue
        }
        let isLocal = symbol.binding == .local
        if isLocal != (other.symbol.binding == .local) { return !isLocal }
        if underscores != other.underscores { return underscores < other.underscores }
        if isKnown != other.isKnown { return isKnown }
        if symbol.binding != other.symbol.binding {
            return symbol.binding.rawValue < other.symbol.binding.rawValue
        }
        if name.count != other.name.count { return name.count < other.name.count }
        return name.lexicographicallyPrecedes(other.name)
    }
}
