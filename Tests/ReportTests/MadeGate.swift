import ProfileModel
import Report

@testable import Analysis

/// Gates made by hand.
enum MadeGate {
    static let comparison = Comparison(
        pairs: 10, rule: ComparisonRule(), change: 0.301, low: 0.298, high: 0.304,
        confidence: 0.9966, difference: 6_012_000, differenceLow: 5_903_000,
        differenceHigh: 6_121_000, detectable: 0.041, verdict: .slower)

    static func phases(_ name: String = "Static initialisers") -> [PartDifference] {
        [
            PartDifference(
                name: "Dynamic linking", pairs: 20, difference: 12_000, low: -31_000,
                high: 44_000, confidence: 0.9975, isLonger: false),
            PartDifference(
                name: name, pairs: 20, difference: 6_001_000, low: 5_950_000, high: 6_052_000,
                confidence: 0.9975, isLonger: true),
        ]
    }

    static let processes = [
        PartDifference(
            name: "git\u{1B}[1m", pairs: 20, difference: 5_500_000, low: 5_400_000, high: 5_600_000,
            confidence: 0.9975, isLonger: true),
        PartDifference(
            name: "python3", pairs: 20, difference: -9_000, low: -31_000, high: 44_000,
            confidence: 0.9975, isLonger: false),
    ]

    static func report(
        _ decision: ComparisonPlan.Decision, seen: Comparison? = comparison,
        second: Comparison? = nil, phases: [PartDifference] = phases(),
        processes: [PartDifference] = [],
        measurement: Measurement = Measured.against().0
    ) -> GateReport {
        GateReport(
            GateResult(
                rule: GateRule(),
                basis: .turns(GateDecision(decision: decision, seen: seen, second: second)),
                phases: phases, processes: processes), measurement)
    }

    static var regression: GateReport { report(.slower, second: comparison) }

    /// A second block that was faster.
    static var refutation: Comparison {
        var second = comparison
        (second.change, second.low, second.high) = (0.01, -0.02, 0.04)
        second.verdict = .inconclusive
        return second
    }

    static func advice(
        _ reason: StoredBaseline.Reason = .gone, mismatches: [MeasurementMismatch] = [],
        name: String = "base.firstlight"
    ) -> GateReport {
        let measurement = Measured.single().0
        var advice = StoredAdvice(
            reason, of: measurement, against: measurement, rule: ComparisonRule())
        advice.mismatches = mismatches
        return GateReport(
            GateResult(rule: GateRule(), basis: .advice(advice), phases: [], processes: []),
            measurement,
            baseline: name)
    }
}
