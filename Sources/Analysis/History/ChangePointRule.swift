/// Decides when to report a step in a series. The defaults are those of Apache Otava's users,
/// except ``significance``: here it holds for the whole search, not for one place in it.
package struct ChangePointRule: Hashable, Sendable {
    /// The number of values in a window; windows overlap by half.
    package var window: Int
    /// The chance that a part of a series without a step seems to have one.
    package var significance: Double
    /// Smaller steps are not reported: 0.03 is 3 %.
    package var magnitude: Double
    /// The least number of values on either side of a step: neither one spike nor two are a step.
    package var leastSegment: Int

    package init(
        window: Int = 50, significance: Double = 0.001, magnitude: Double = 0.03,
        leastSegment: Int = 3
    ) {
        self.window = window
        self.significance = significance
        self.magnitude = magnitude
        self.leastSegment = leastSegment
    }

    /// The shortest series that can have a step.
    package var least: Int { max(5, 2 * leastSegment) }
}

/// A place at which a series changes its level.
package struct ChangePoint: Hashable, Sendable {
    /// The index of the first value on the new level.
    package var index: Int
    /// The median of the values on the level before, and on the new one, with spikes limited.
    package var before: Double
    package var after: Double
    /// The probability that there is no step, by Student's test, times the number of possible
    /// places.
    package var probability: Double

    /// after/before − 1
    package var change: Double { before > 0 ? after / before - 1 : 0 }
}
