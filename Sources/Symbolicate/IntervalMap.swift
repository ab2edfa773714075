internal import ProfileModel

/// Which of many nested or overlapping intervals of addresses is the innermost at an address.
///
/// Built once from all intervals, then a binary search over disjoint segments: the cost of an
/// answer does not depend on how deep or how badly the intervals overlap.
package struct IntervalMap: Sendable {
    package struct Interval: Sendable {
        package var start: UInt64
        /// One past the last address.
        package var end: UInt64
        /// Decides between intervals with the same bounds: the higher one is the inner.
        package var depth: Int32
        /// What ``IntervalMap/subscript(_:)`` answers; not negative.
        package var value: Int32

        package init(start: UInt64, end: UInt64, depth: Int32 = 0, value: Int32) {
            self.start = start
            self.end = end
            self.depth = depth
            self.value = value
        }

        static func isOrderedBefore(_ left: Interval, _ right: Interval) -> Bool {
            if left.start != right.start { return left.start < right.start }
            if left.end != right.end { return left.end > right.end }
            if left.depth != right.depth { return left.depth < right.depth }
            return left.value < right.value
        }
    }

    private static let gap: Int32 = -1

    /// Where each segment starts, ascending; it ends where the next one starts.
    private var starts: [UInt64] = []
    private var values: [Int32] = []

    /// Where intervals overlap without one holding the other, the one that starts later wins.
    package init(_ intervals: [Interval]) {
        self.init(sorted: intervals.sorted(by: Interval.isOrderedBefore))
    }

    /// For callers that sort faster than in general. The order: start ascending, of these the
    /// longest first, of these the lowest `depth` first.
    init(sorted intervals: [Interval]) {
        starts.reserveCapacity(intervals.count)
        values.reserveCapacity(intervals.count)
        var open: [Interval] = []
        for interval in intervals where interval.end > interval.start {
            close(&open, before: interval.start)
            append(at: interval.start, value: interval.value)
            open.append(interval)
        }
        close(&open, before: .max)
    }

    /// What the map is made of: where each segment starts, ascending, and its value; -1: none.
    var segments: [(start: UInt64, value: Int32)] { Array(zip(starts, values)) }

    /// nil unless the starts ascend.
    init?(segments: [(start: UInt64, value: Int32)]) {
        guard zip(segments, segments.dropFirst()).allSatisfy({ $0.start < $1.start }),
            segments.allSatisfy({ $0.value >= Self.gap })
        else { return nil }
        starts = segments.map(\.start)
        values = segments.map(\.value)
    }

    /// The value of the innermost interval that holds `address`; nil when none does.
    package subscript(address: UInt64) -> Int32? {
        let next = starts.partitionIndex { $0 > address }
        guard next > 0, values[next - 1] != Self.gap else { return nil }
        return values[next - 1]
    }

    /// Ends every open interval that ends at or before `position`, giving what it covered last
    /// back to the one around it.
    private mutating func close(_ open: inout [Interval], before position: UInt64) {
        while let innermost = open.last, innermost.end <= position {
            let end = innermost.end
            repeat { open.removeLast() } while (open.last.map { $0.end <= end } ?? false)
            append(at: end, value: open.last?.value ?? Self.gap)
        }
    }

    private mutating func append(at start: UInt64, value: Int32) {
        if let last = starts.last, last == start {
            values[values.count - 1] = value
        } else {
            starts.append(start)
            values.append(value)
        }
    }
}
