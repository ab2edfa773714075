import Analysis
import Exports
import ProfileModel

/// A comparison in sentences: the first arm compared with the second.
struct ComparisonWords {
    let comparison: Comparison
    let names: ArmNames

    /// The text if there is no comparison.
    static func tooFew(_ names: ArmNames) -> String {
        "inconclusive: too few launches count to compare \(names[0]) with \(names[1])"
    }

    var verdict: String {
        switch comparison.verdict {
        case .slower: "\(names[0]) is slower than \(names[1]) by more than is allowed"
        case .faster: "\(names[0]) is faster than \(names[1])"
        case .same: "\(names[0]) is not slower than \(names[1]) by more than is allowed"
        case .inconclusive:
            "inconclusive: it is not certain whether \(names[0]) is slower than \(names[1]); "
                + detectable
        }
    }

    /// What this number of pairs could have shown.
    var detectable: String {
        let pairs = Numbers.count(comparison.pairs, "pair")
        guard let change = comparison.detectable else {
            return "\(pairs) are too few to show any change"
        }
        return
            "\(pairs) with this spread would show a change of \(Numbers.share(change)) in four of "
            + "five trials"
    }

    /// "+5.2 % (+2.1 % to +8.4 %)"
    var change: String {
        "\(Numbers.change(comparison.change)) (\(Numbers.change(comparison.low)) to "
            + "\(Numbers.change(comparison.high)))"
    }

    /// "+5.2 % (+2.1 % to +8.4 %), +18.30 ms a launch (+7.000 ms to +29.90 ms); 20 pairs of
    /// launches, each bound 99 % sure; 3.0 % or 2.000 ms are allowed, whichever is more"
    var figures: String {
        let rule = comparison.rule
        return "\(change), \(Quantity.time.signed(comparison.difference)) a launch "
            + "(\(Quantity.time.signed(comparison.differenceLow)) to "
            + "\(Quantity.time.signed(comparison.differenceHigh))); "
            + "\(Numbers.count(comparison.pairs, "pair")) of launches, "
            + "each bound \(Numbers.confidence(comparison.confidence)) sure; "
            + "\(Numbers.share(rule.allowedShare)) or \(Numbers.measured(rule.allowedDifference)) "
            + "are allowed, whichever is more"
    }
}
