internal import ELF
internal import ProfileModel

/// The address ranges of a file's code sections; finds the one that contains an address.
struct CodeSections {
    /// Ascending, without overlaps or empty ranges.
    let ranges: [Range<UInt64>]

    init(_ sections: [ELFSection]) {
        var ranges: [Range<UInt64>] = []
        for section in sections.filter(\.isCode).sorted(by: { $0.address < $1.address }) {
            let start = max(section.address, ranges.last?.upperBound ?? 0)
            if start < section.end { ranges.append(start..<section.end) }
        }
        self.ranges = ranges
    }

    /// From the first section's start to the last one's end; empty if there is no code.
    var hull: Range<UInt64> {
        guard let first = ranges.first, let last = ranges.last else { return 0..<0 }
        return first.lowerBound..<last.upperBound
    }

    func section(holding address: UInt64) -> Range<UInt64>? {
        let index = ranges.partitionIndex { $0.upperBound > address }
        guard index < ranges.count, ranges[index].contains(address) else { return nil }
        return ranges[index]
    }
}

/// Gives an end to symbols without a size.
struct Extents {
    let code: CodeSections
    let functionStarts: [UInt64]

    /// Sets the end of each symbol that has none, unless a symbol with a size covers its start (a
    /// label inside a function stays empty).
    /// - Parameter symbols: sorted by start, then the longest first; they stay so.
    /// - Returns: the starts of the symbols whose end was set.
    func complete(_ symbols: inout [ELFSymbol]) -> Set<UInt64> {
        let unsized = symbols.indices.filter { symbols[$0].end == symbols[$0].start }
        guard !unsized.isEmpty else { return [] }
        let borders = symbols.map(\.start)
        let sized = Self.covered(by: symbols)
        var completed: Set<UInt64> = []
        for index in unsized {
            let start = symbols[index].start
            guard sized[start] == nil, let section = code.section(holding: start) else { continue }
            let nextSymbol = Self.first(after: start, in: borders)
            let nextFunction = Self.first(after: start, in: functionStarts)
            symbols[index].end = min(section.upperBound, nextSymbol, nextFunction)
            completed.insert(start)
        }
        return completed
    }

    private static func covered(by symbols: [ELFSymbol]) -> IntervalMap {
        IntervalMap(
            sorted: symbols.filter { $0.end > $0.start }.map {
                IntervalMap.Interval(start: $0.start, end: $0.end, value: 0)
            })
    }

    private static func first(after address: UInt64, in sorted: [UInt64]) -> UInt64 {
        let index = sorted.partitionIndex { $0 > address }
        return index < sorted.count ? sorted[index] : .max
    }
}
