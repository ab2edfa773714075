import Glibc
import ProfileModel

extension Comparison {
    /// By the procedure: the ratio of each pair, so that what disturbs both launches of a pair
    /// cancels out; no mean, and no assumption but that the noise is symmetric.
    ///
    /// - Parameter walls: of both arms, pair by pair, in nanoseconds, above 0.
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
        verdict = Self.verdict(ratio, span, rule)
    }

    /// Slower: by more than both allowances, the lower bounds say. Not slower than is allowed: one
    /// of the upper bounds stays within its allowance.
    private static func verdict(
        _ ratio: LocationEstimate, _ span: LocationEstimate, _ rule: ComparisonRule
    ) -> Verdict {
        guard ratio.confidence >= rule.confidence else { return .inconclusive }
        let (share, allowed) = (rule.allowedShare, rule.allowedDifference.value)
        if expm1(ratio.low) > share, span.low > allowed { return .slower }
        if ratio.high < 0, span.high < 0 { return .faster }
        if expm1(ratio.high) < share || span.high < allowed { return .same }
        return .inconclusive
    }

    /// The bounds' distance is the spread that counts. A change is seen if the estimate exceeds
    /// what is allowed by that distance; in four of five trials, if it lies above by another 0.84
    /// standard errors, of which the distance has 2.33 (for 99 %).
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
