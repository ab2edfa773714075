package import ProfileModel

/// The summary of a measurement's launches, for each arm.
package struct MeasurementSummary: Hashable, Sendable {
    package var arms: [ArmSummary]
    /// Of the first arm against the second; nil: there is only one, or too few launches.
    package var comparison: Comparison?
}

/// The figures of one arm's launches that count.
package struct ArmSummary: Hashable, Sendable {
    package var launches: Int
    package var discarded: [MeasuredLaunch.Discard: Int]
    /// nil: no launch counts.
    package var wall: Distribution?
    /// The phases that launches have; if some do not have a phase, its ``Distribution/count`` is
    /// less.
    package var phases: [PhaseSummary]
    /// The longest first; empty: none, or not known.
    package var processes: [StartedProcesses]
    package var cpu: Distribution?
    package var mainBlocked: Distribution?
    /// In counts and bytes, not nanoseconds.
    package var minorFaults: Distribution?
    package var majorFaults: Distribution?
    package var readBytes: Distribution?
    /// The causes that make the figures less certain, gravest first.
    package var disturbances: [Disturbance]
}

package struct PhaseSummary: Hashable, Sendable {
    package var name: String
    package var wall: Distribution
    /// nil: not known for any launch.
    package var cpu: Distribution?
}

/// Many values of one figure: in nanoseconds, unless its place says otherwise.
package struct Distribution: Hashable, Sendable {
    package var count: Int
    package var median: Double
    /// The interval that contains the true median with ``confidence``; nil: too few values for any.
    package var interval: Interval?
    /// nil: fewer than 20 values.
    package var percentile90: Double?
    package var minimum: Double
    package var maximum: Double

    package struct Interval: Hashable, Sendable {
        package var low: Double
        package var high: Double
        /// The exact confidence, at least 0.95 where the number of values allows it.
        package var confidence: Double
    }
}

/// A cause that makes the figures of an arm less certain than their interval.
package enum Disturbance: Hashable, Sendable {
    /// Other programs used the machine: their share of all cores' time in the launches, from 0 to
    /// 1.
    case otherWork(share: Double, launches: Int)
    /// The hypervisor gave cores to other machines.
    case stolen(share: Double, launches: Int)
    /// The cores' frequency changed: lowest and highest, in kHz.
    case frequency(lowest: Int64, highest: Int64)
    /// Launches became slower (positive) or faster, in all, as a share of the median.
    case drift(share: Double)
    /// There are two kinds of launches: the position and the number of each.
    case bimodal(lower: Double, lowerCount: Int, upper: Double, upperCount: Int)
    /// Launches far from all others, as positions in ``Measurement/launches``. They count like the
    /// others.
    case outliers([Int])
    /// Launches that read from disk though they should have been warm.
    case readFromDisk(launches: Int)
}

/// The first arm (B) against the second (A), pair by pair, in the order in which they took turns.
package struct Comparison: Hashable, Sendable {
    package var pairs: Int
    /// The question: how much slower is allowed, and how certain the answer must be.
    package var rule: ComparisonRule
    /// B/A − 1: Hodges and Lehmann's estimate on logarithms, and exact bounds (signed ranks). Each
    /// bound holds with ``confidence``.
    package var change: Double
    package var low: Double
    package var high: Double
    /// The actual confidence: at least that of the rule; less where there are too few pairs for
    /// that.
    package var confidence: Double
    /// The same as a difference, in nanoseconds.
    package var difference: Double
    package var differenceLow: Double
    package var differenceHigh: Double
    /// The smallest change (as ``change``) that as many pairs with this spread would show as
    /// `slower` in four of five trials; nil: there are too few pairs to show any.
    package var detectable: Double?
    package var verdict: Verdict

    package enum Verdict: String, Sendable, CaseIterable {
        /// Slower by more than is allowed, surely.
        case slower
        /// Faster, surely.
        case faster
        /// Not slower than is allowed, surely.
        case same
        case inconclusive
    }
}

/// The question of a comparison. The defaults are the procedure's.
package struct ComparisonRule: Hashable, Sendable {
    /// Slower by no more than this share is allowed, 0.03: 3 %.
    package var allowedShare: Double
    /// This difference is allowed, too: the larger of the two allowances counts.
    package var allowedDifference: TimeSpan
    /// Of each bound by itself (one-sided).
    package var confidence: Double

    package init(
        allowedShare: Double = 0.03, allowedDifference: TimeSpan = .milliseconds(2),
        confidence: Double = 0.99
    ) {
        self.allowedShare = allowedShare
        self.allowedDifference = allowedDifference
        self.confidence = confidence
    }
}
