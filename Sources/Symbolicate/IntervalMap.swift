internal import ProfileModel

/// Finds the innermost of many nested or overlapping address intervals at an address.
///
/// It is built once from all intervals; then it searches disjoint segments by bisection. So the
/// cost of an answer does not depend on how deeply or badly the intervals overlap.
package struct IntervalMap: Sendable {
    package struct Interval: Sendable {
        package var start: UInt64
        /// One past the last address.
        package var end: UInt64
        /// Decides between intervals with the same bounds: the one with the higher depth is inside.
        package var depth: Int32
        /// The answer of ``IntervalMap/subscript(_:)``; not negative.
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

    /// If intervals overlap and neither contains the other, the one that starts later wins.
    package init(_ intervals: [Interval]) {
        self.init(sorted: intervals.sorted(by: Interval.isOrderedBefore))
    }

    /// For callers with a faster way to sort. The order: by start ascending, then the longest
    /// first, then the lowest `depth` first.
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

    /// The map's segments: each one's start, ascending, and its value; -1: none.
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

    /// Closes each open interval that ends at or before `position`. From its end on, the interval
    /// around it counts again.
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
