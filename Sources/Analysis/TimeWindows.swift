package import ProfileModel

/// Stretches of the launch, since its start: in order, not touching each other, none empty.
package struct TimeWindows: Hashable, Sendable {
    package private(set) var ranges: [Range<TimeSpan>] = []

    /// Overlapping or touching ranges become one; empty ones are dropped.
    package init(_ ranges: some Sequence<Range<TimeSpan>>) {
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
            if let last = self.ranges.last, range.lowerBound <= last.upperBound {
                self.ranges[self.ranges.count - 1] =
                    last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                self.ranges.append(range)
            }
        }
    }

    package var length: TimeSpan {
        ranges.reduce(.zero) { $0 + ($1.upperBound - $1.lowerBound) }
    }

    /// The length of their part within `range`.
    package func length(within range: Range<TimeSpan>) -> TimeSpan {
        var result = TimeSpan.zero
        for window in ranges[first(endingAfter: range.lowerBound)...] {
            guard window.lowerBound < range.upperBound else { break }
            let common = window.clamped(to: range)
            result = result + (common.upperBound - common.lowerBound)
        }
        return result
    }

    /// The position of the first window that ends after `time`; their count if none does.
    func first(endingAfter time: TimeSpan) -> Int {
        ranges.partitionIndex { $0.upperBound > time }
    }
}
