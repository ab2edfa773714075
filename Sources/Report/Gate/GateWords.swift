import Analysis
import Exports
import ProfileModel

/// A gate's answer in sentences.
struct GateWords {
    let result: GateResult
    let names: ArmNames

    /// The answer in one line.
    var verdict: String {
        switch result.basis {
        case .turns(let decision): verdict(decision)
        case .advice(let advice): AdviceWords(advice: advice, names: names).verdict
        }
    }

    private func verdict(_ decision: GateDecision) -> String {
        guard let seen = decision.seen else { return ComparisonWords.tooFew(names) }
        let words = ComparisonWords(comparison: seen, names: names)
        switch decision.decision {
        case .slower: return "regression: " + words.verdict + source
        case .faster, .same: return "passed: " + words.verdict
        case .inconclusive(.notSeen): return words.verdict
        case .inconclusive(.notConfirmed):
            return "inconclusive: \(names[0]) seemed slower than \(names[1]) by more than is "
                + "allowed, but a second block of as many launches does not agree; "
                + words.detectable
        }
    }

    /// "; it comes from Main: +6.012 ms a launch (+5.903 ms to +6.121 ms)"
    private var source: String {
        let process = result.slowerProcess.map {
            "; of the processes that it starts, \($0.name.escapedForDisplay) takes "
                + "\(Self.difference($0)) "
                + "(\(Self.bounds($0)))"
        }
        guard let phase = result.culprit else {
            return "; no single phase is certainly longer" + (process ?? "")
        }
        return "; it comes from \(phase.name.escapedForDisplay): "
            + "\(Self.difference(phase)) a launch (\(Self.bounds(phase)))" + (process ?? "")
    }

    static func difference(_ phase: PartDifference) -> String {
        Quantity.time.signed(phase.difference)
    }

    /// "+5.903 ms to +6.121 ms"
    static func bounds(_ phase: PartDifference) -> String {
        "\(Quantity.time.signed(phase.low)) to \(Quantity.time.signed(phase.high))"
    }

    /// The grounds of the answer, one sentence each.
    var grounds: [String] {
        switch result.basis {
        case .turns(let decision):
            [
                decision.seen.map { ComparisonWords(comparison: $0, names: names).figures },
                decision.second.map(second),
            ].compactMap { $0 }
        case .advice(let advice): AdviceWords(advice: advice, names: names).grounds
        }
    }

    private func second(_ block: Comparison) -> String {
        "a second block of \(Numbers.count(block.pairs, "pair")) "
            + (block.verdict == .slower ? "agrees: " : "does not agree: ")
            + ComparisonWords(comparison: block, names: names).change
    }
}

/// What stored figures suggest, in sentences; the second name is that of the stored figures.
struct AdviceWords {
    let advice: StoredAdvice
    let names: ArmNames

    var verdict: String {
        switch advice.outcome {
        case .passed:
            "passed, by stored figures: \(names[0]) is not slower than \(names[1]) by more than is "
                + "allowed"
        case .inconclusive, .regression:
            "inconclusive: it is not certain whether \(names[0]) is slower than \(names[1]); "
                + doubt
        }
    }

    private var doubt: String {
        guard let difference = advice.difference else { return "too few launches count" }
        guard !advice.mismatches.contains(where: \.isFatal) else {
            return "the stored figures were measured under different circumstances"
        }
        return difference.verdict(advice.rule) == .slower
            ? "the stored figures suggest it, but never decide alone"
            : "the stored figures are too close to decide"
    }

    var grounds: [String] {
        [advised, advice.difference.map { UnpairedWords.figures($0) }].compactMap { $0 }
            + advice.mismatches.map(MismatchWords.text)
    }

    private var advised: String {
        "this is only advice: the baseline's program \(reason), so the two could not take turns; "
            + "it is not known how much measurements of one program differ from each other"
    }

    private var reason: String {
        switch advice.reason {
        case .gone: "is not where it was"
        case .changed: "has changed since it was measured"
        case .same: "is the same file that is measured now"
        }
    }
}
