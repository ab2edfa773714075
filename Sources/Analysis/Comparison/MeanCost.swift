package import ProfileModel

/// Divides sums over launches by their number. The remainder of one division is carried on to the
/// next, so that the means of parts add up to the mean of the whole.
struct MeanDivider {
    private let count: Int64
    private var sum: Int64 = 0
    private var given: Int64 = 0

    /// - Parameter count: of launches; 0 counts as 1.
    init(_ count: Int) { self.count = Int64(max(1, count)) }

    mutating func mean(of part: TimeSpan) -> TimeSpan {
        sum &+= part.nanoseconds
        let reached = sum / count
        defer { given = reached }
        return TimeSpan(nanoseconds: reached &- given)
    }
}

extension TimeSpan {
    /// Divided among launches, of which there is at least one.
    func mean(of launches: Int) -> TimeSpan {
        TimeSpan(nanoseconds: nanoseconds / Int64(max(1, launches)))
    }
}

/// The same for costs.
struct CostDivider {
    private var wall: MeanDivider
    private var cpu: MeanDivider
    private var blocked: MeanDivider

    init(_ count: Int) {
        (wall, cpu, blocked) = (MeanDivider(count), MeanDivider(count), MeanDivider(count))
    }

    mutating func mean(of part: Cost) -> Cost {
        Cost(
            wall: wall.mean(of: part.wall), cpu: cpu.mean(of: part.cpu),
            blocked: blocked.mean(of: part.blocked))
    }
}

/// The time of something in each of several launches of a side. These values decide whether it
/// changed. Empty where a side is a single launch.
package typealias LaunchWalls = Compared<[TimeSpan]>

/// Decides whether a difference is a change.
struct ChangeRule: Hashable, Sendable {
    /// A smaller difference is not a change.
    var least: TimeSpan

    /// With several launches, the interval of the difference of the means must also exclude 0.
    func isChange(_ wall: Compared<TimeSpan>, _ launches: LaunchWalls) -> Bool {
        guard wall.difference.magnitude >= least.magnitude else { return false }
        return launches.interval?.excludesZero ?? true
    }
}

/// The interval that contains the true difference of two means with 95 % confidence.
package struct ChangeInterval: Hashable, Sendable {
    package var low: TimeSpan
    package var high: TimeSpan

    /// nil: it does not fit into a ``TimeSpan``.
    init?(_ found: MeanDifference) {
        guard let low = Int64(exactly: found.low.rounded()),
            let high = Int64(exactly: found.high.rounded())
        else { return nil }
        (self.low, self.high) = (TimeSpan(nanoseconds: low), TimeSpan(nanoseconds: high))
    }
}

extension LaunchWalls {
    static var none: Self { Self(before: [], after: []) }

    /// nil: a side is a single launch.
    var interval: MeanDifference? {
        let values = map { $0.map { Double($0.nanoseconds) } }
        return MeanDifference(values.after, against: values.before)
    }

    /// Of each launch.
    static func + (left: Self, right: Self) -> Self { left.merged(right, +) }
    static func - (left: Self, right: Self) -> Self { left.merged(right, -) }

    private func merged(
        _ other: Self, _ operation: (TimeSpan, TimeSpan) -> TimeSpan
    ) -> Self {
        Self { side in
            guard !other[side].isEmpty else { return self[side] }
            guard !self[side].isEmpty else { return other[side].map { operation(.zero, $0) } }
            return zip(self[side], other[side]).map(operation)
        }
    }
}
