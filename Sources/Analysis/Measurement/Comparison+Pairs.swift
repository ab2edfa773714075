import Glibc
import ProfileModel

extension Comparison {
    /// Compares by the ratio of each pair, so that a disturbance of both launches of a pair cancels
    /// out. It uses no mean, and assumes only that the noise is symmetric.
    ///
    /// - Parameter walls: both arms' wall times, pair by pair, in nanoseconds, above 0.
    /// - Returns: nil without pairs.
    init?(_ walls: [(Double, Double)], rule: ComparisonRule) {
        guard
            let ratio = LocationEstimate(
                walls.map { log($0.0 / $0.1) }, confidence: rule.confidence),
            let span = LocationEstimate(walls.map { $0.0 - $0.1 }, confidence: rule.confidence),
            let base = SortedValues(walls.map(\.1))?.median
        else { return nil }
        pairs = walls.count
        self.rule = rule
        (change, low, high) = (expm1(ratio.value), expm1(ratio.low), expm1(ratio.high))
        confidence = ratio.confidence
        (difference, differenceLow, differenceHigh) = (span.value, span.low, span.high)
        detectable = Self.detectable(ratio, rule, base: base)
        verdict = rule.verdict(
            change: (low, high), difference: (span.low, span.high), confidence: ratio.confidence)
    }

    /// The smallest detectable change. The relevant spread is the bounds' distance from the
    /// estimate. A change is detected if the estimate exceeds the allowance by that distance. It is
    /// detected in four of five trials if it exceeds that by another 0.84 standard errors; the
    /// distance is 2.33 of them (for 99 %).
    private static func detectable(
        _ ratio: LocationEstimate, _ rule: ComparisonRule, base: Double
    ) -> Double? {
        guard ratio.confidence >= rule.confidence else { return nil }
        let errors = StandardNormal.quantile(upperTail: 1 - ratio.confidence)
        let reserve = StandardNormal.quantile(upperTail: 0.2)
        let distance = (ratio.high - ratio.low) / 2
        let allowed = log1p(max(rule.allowedShare, rule.allowedDifference.value / base))
        return expm1(allowed + distance * (1 + reserve / errors))
    }
}

extension ComparisonRule {
    /// The verdict. Slower: both lower bounds exceed their allowances. Not slower than is allowed:
    /// one of the upper bounds stays within its allowance.
    ///
    /// - Parameters:
    ///   - change: the bounds as shares.
    ///   - difference: the bounds in nanoseconds.
    ///   - confidence: of each bound, as far as the launches allow it.
    func verdict(
        change: (low: Double, high: Double), difference: (low: Double, high: Double),
        confidence: Double
    ) -> Comparison.Verdict {
        guard confidence >= self.confidence else { return .inconclusive }
        let allowed = allowedDifference.value
        if change.low > allowedShare, difference.low > allowed { return .slower }
        if change.high < 0, difference.high < 0 { return .faster }
        if change.high < allowedShare || difference.high < allowed { return .same }
        return .inconclusive
    }
}
