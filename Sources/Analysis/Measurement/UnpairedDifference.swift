import Glibc
package import ProfileModel

/// The difference of one figure between two measurements that did not take turns. The bounds
/// include the spread of launches within a measurement. They do not include the spread between
/// measurements of the same program, which is often larger.
package struct UnpairedDifference: Hashable, Sendable {
    /// The numbers of launches that have the figure: in the later measurement, and in the earlier.
    package var counts: [Int]
    /// The later measurement's median, and the earlier's, in nanoseconds.
    package var median: Double
    package var medianBefore: Double
    /// Later/earlier − 1: Hodges and Lehmann's estimate for two samples, on logarithms, and Mann
    /// and Whitney's bounds. nil: the figure is 0 for a launch, so there is no ratio.
    package var change: Bounds?
    /// The same as a difference, in nanoseconds.
    package var difference: Bounds

    package struct Bounds: Hashable, Sendable {
        package var value: Double
        package var low: Double
        package var high: Double
        /// The confidence of each bound by itself: as asked for, or less where there are too few
        /// launches.
        package var confidence: Double
    }
}

extension UnpairedDifference {
    /// - Returns: nil: one side has no values, or one that is not finite.
    init?(_ walls: [Double], against before: [Double], confidence: Double) {
        guard let span = LocationEstimate(walls, against: before, confidence: confidence),
            let median = SortedValues(walls)?.median,
            let medianBefore = SortedValues(before)?.median
        else { return nil }
        counts = [walls.count, before.count]
        (self.median, self.medianBefore) = (median, medianBefore)
        difference = Bounds(span)
        change = Self.ratio(walls, before, confidence).map { ratio in
            Bounds(
                value: expm1(ratio.value), low: expm1(ratio.low), high: expm1(ratio.high),
                confidence: ratio.confidence)
        }
    }

    private static func ratio(
        _ walls: [Double], _ before: [Double], _ confidence: Double
    ) -> LocationEstimate? {
        guard (walls + before).allSatisfy({ $0 > 0 }) else { return nil }
        return LocationEstimate(
            walls.map(\.logarithm), against: before.map(\.logarithm), confidence: confidence)
    }

    /// Makes a difference of figures that a store has computed.
    ///
    /// - Parameter ranks: the ranks whose values the store returned.
    package init(_ stored: StoredDifference, _ ranks: ShiftRanks) {
        counts = stored.counts
        (median, medianBefore) = (stored.median, stored.medianBefore)
        difference = Bounds(stored.differences, ranks.confidence)
        // The logarithm of a ratio is the difference of the logarithms.
        change = stored.ratios.map { ratios in
            let logarithms = ratios.mapped(\.logarithm)
            return Bounds(
                value: expm1(logarithms.middle), low: expm1(logarithms.low),
                high: expm1(logarithms.high), confidence: ranks.confidence)
        }
    }

    /// Compares the launches themselves, of each measurement's first program.
    package init?(
        of measurement: Measurement, against before: Measurement, confidence: Double = 0.99
    ) {
        self.init(
            Self.walls(of: measurement), against: Self.walls(of: before), confidence: confidence)
    }

    private static func walls(of measurement: Measurement) -> [Double] {
        measurement.countedLaunches.map(\.wall.value).filter { $0 > 0 }
    }

    /// By the same rule as for launches that took turns. The caller must know that these did not.
    package func verdict(_ rule: ComparisonRule) -> Comparison.Verdict {
        guard let change else { return .inconclusive }
        return rule.verdict(
            change: (change.low, change.high), difference: (difference.low, difference.high),
            confidence: min(difference.confidence, change.confidence))
    }
}

extension UnpairedDifference.Bounds {
    init(_ found: LocationEstimate) {
        self.init(
            value: found.value, low: found.low, high: found.high, confidence: found.confidence)
    }

    init(_ values: ShiftRanks.Values, _ confidence: Double) {
        self.init(
            value: values.middle, low: values.low, high: values.high, confidence: confidence)
    }
}

extension Measurement {
    /// The launches of the first program that count.
    var countedLaunches: [MeasuredLaunch] {
        launches.filter { $0.arm == 0 && $0.discarded == nil }
    }
}
