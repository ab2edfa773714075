import Analysis
import ProfileModel

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
