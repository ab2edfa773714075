import Analysis
import ProfileModel

/// What stored figures suggest, in sentences; the second name is that of the stored figures.
struct AdviceWords {
    let advice: StoredAdvice
    let names: ArmNames

    var verdict: String {
        switch advice.outcome {
        case .passed:
            "passed, by stored figures: \(names[0]) is not slower than \(names[1]), or by no more "
                + "than is allowed"
        case .inconclusive, .regression:
            "inconclusive: whether \(names[0]) is slower than \(names[1]) cannot be told; \(doubt)"
        }
    }

    private var doubt: String {
        guard let difference = advice.difference else { return "too few launches count" }
        guard !advice.mismatches.contains(where: \.isFatal) else {
            return "the stored figures are of other circumstances"
        }
        return difference.verdict(advice.rule) == .slower
            ? "it seems so, by stored figures, which alone never decide"
            : "the stored figures are too close for that"
    }

    var grounds: [String] {
        [advised, advice.difference.map { UnpairedWords.figures($0) }].compactMap { $0 }
            + advice.mismatches.map(MismatchWords.text)
    }

    private var advised: String {
        "this is advice only: the baseline's program \(reason), so that the two could not take "
            + "turns; how much measurements of one program differ from each other is not known"
    }

    private var reason: String {
        switch advice.reason {
        case .gone: "is not where it was"
        case .changed: "was changed since it was measured"
        case .same: "is the very file that is measured now"
        }
    }
}
