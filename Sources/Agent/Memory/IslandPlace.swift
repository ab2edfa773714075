import Architecture

/// Chooses the place of an island.
package enum IslandPlace {
    /// How far a jump reaches, less the length of programs and islands (half a GiB).
    private static let reach = JumpPatch.reach - 0x2000_0000
    /// The distance to keep from existing mappings, where there is enough room.
    private static let distance: UInt64 = 0x10_0000
    /// The kernel allows no mapping below this address.
    private static let lowest: UInt64 = 0x1_0000

    /// The nearest place below `code` that has room: nothing of the program grows there, while its
    /// heap grows upwards from behind it. Failing that, the highest place above it. nil: there is
    /// none in reach.
    ///
    /// - Parameter mappings: all mappings of the process, ascending.
    package static func place(
        near code: UInt64, size: UInt64, among mappings: [Range<UInt64>]
    ) -> UInt64? {
        let bounds =
            max(lowest, code > reach ? code - reach : 0)..<max(code, lowest).addingOrMost(reach)
        let gaps = gaps(between: mappings, within: bounds).filter { $0.count >= Int(size) }
        let below = gaps.last { $0.upperBound <= code }
        guard let gap = below ?? gaps.last else { return nil }
        let last = VirtualMemory.pageStart(of: gap.upperBound - size)
        let spared = last >= distance ? last - distance : 0
        if spared >= gap.lowerBound { return spared }
        return last >= gap.lowerBound ? last : nil
    }

    private static func gaps(
        between mappings: [Range<UInt64>], within bounds: Range<UInt64>
    ) -> [Range<UInt64>] {
        var gaps: [Range<UInt64>] = []
        var end = bounds.lowerBound
        for mapping in mappings where mapping.overlaps(bounds) {
            if mapping.lowerBound > end { gaps.append(end..<mapping.lowerBound) }
            end = max(end, mapping.upperBound)
        }
        if end < bounds.upperBound { gaps.append(end..<bounds.upperBound) }
        return gaps
    }
}

extension UInt64 {
    fileprivate func addingOrMost(_ other: UInt64) -> UInt64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}
