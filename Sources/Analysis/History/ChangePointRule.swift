/// When to report a step in a series. The defaults are those of Apache Otava's users, except
/// ``significance``: here it holds for the whole search, not for one place in it.
package struct ChangePointRule: Hashable, Sendable {
    /// How many values are looked at together; windows overlap by half.
    package var window: Int
    /// How often a part of a series without a step may seem to have one.
    package var significance: Double
    /// Smaller steps are not told: 0.03 is 3 %.
    package var magnitude: Double
    /// How many values there must be on either side of a step: one spike is none, nor are two.
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

    /// Of a series that can have a step at all.
    package var least: Int { max(5, 2 * leastSegment) }
}

/// Where a series changes its level.
package struct ChangePoint: Hashable, Sendable {
    /// Of the first value on the new level.
    package var index: Int
    /// The median of the values on the level before, and on the new one, spikes drawn in.
    package var before: Double
    package var after: Double
    /// That there is no step, by Student's test, times the number of places at which it could be.
    package var probability: Double

    /// after/before − 1
    package var change: Double { before > 0 ? after / before - 1 : 0 }
}
