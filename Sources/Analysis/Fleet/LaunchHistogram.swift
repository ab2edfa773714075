package import ProfileModel

/// Counts launch times in buckets. The buckets are the same on every machine and in every version,
/// so many histograms can be added up.
package struct LaunchHistogram: Hashable, Sendable {
    /// The upper bounds of all buckets except the last, which has none. Each bucket counts times
    /// longer than the previous bound and not longer than its own. Bounds are closest where
    /// launches are compared, between 1 ms and 10 s: none there is more than twice the one before.
    package static let bounds: [TimeSpan] = microseconds.map {
        TimeSpan(nanoseconds: $0 * 1_000)
    }

    private static let microseconds: [Int64] = [
        100, 200, 500, 1_000, 2_000, 3_000, 5_000, 7_000, 10_000, 15_000, 20_000, 30_000, 50_000,
        70_000, 100_000, 150_000, 200_000, 300_000, 500_000, 700_000, 1_000_000, 1_500_000,
        2_000_000, 3_000_000, 5_000_000, 7_000_000, 10_000_000, 20_000_000, 60_000_000,
    ]

    /// One more than there are bounds.
    package private(set) var counts = Array(repeating: Int64(0), count: bounds.count + 1)
    /// The exact sum of all times.
    package private(set) var sum = TimeSpan.zero

    package init() {}

    package var count: Int64 { counts.reduce(0, +) }

    package mutating func add(_ span: TimeSpan) {
        counts[Self.bounds.partitionIndex { $0 >= span }] += 1
        sum = sum + span
    }
}
