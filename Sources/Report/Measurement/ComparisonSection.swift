import Analysis

/// The first arm against the second: the verdict, and how large the difference is.
struct ComparisonSection {
    let comparison: Comparison?
    let names: ArmNames
    let options: TextOptions

    func render() -> String {
        guard let comparison else {
            return "too few launches count to compare \(names[0]) with \(names[1])"
                .wrapped(to: options.columns)
        }
        let words = ComparisonWords(comparison: comparison, names: names)
        let verdict = words.verdict.wrapped(to: options.columns)
        return (options.usesColour ? Self.emphasised(verdict) : verdict)
            + words.figures.wrapped(to: options.columns)
    }

    private static func emphasised(_ lines: String) -> String {
        lines.split(separator: "\n").map { Style.heading.applied(to: String($0)) + "\n" }.joined()
    }
}

/// A comparison in sentences.
struct ComparisonWords {
    let comparison: Comparison
    let names: ArmNames

    var verdict: String {
        switch comparison.verdict {
        case .slower: "\(names[0]) is slower than \(names[1]), by more than is allowed"
        case .faster: "\(names[0]) is faster than \(names[1])"
        case .same: "\(names[0]) is not slower than \(names[1]), or by no more than is allowed"
        case .inconclusive:
            "inconclusive: whether \(names[0]) is slower than \(names[1]) cannot be told; \(detectable)"
        }
    }

    /// What so many pairs could have shown.
    private var detectable: String {
        let pairs = Numbers.count(comparison.pairs, "pair")
        guard let change = comparison.detectable else {
            return "\(pairs) are too few to show any change"
        }
        return "\(pairs) with such a spread would show a change of \(Numbers.share(change)) in "
            + "four of five trials"
    }

    /// "+5.2 % (+2.1 % to +8.4 %), +18.30 ms a launch (+7.000 ms to +29.90 ms); 20 pairs of launches,
    /// each bound 99.0 % sure"
    var figures: String {
        "\(Numbers.change(comparison.change)) (\(Numbers.change(comparison.low)) to "
            + "\(Numbers.change(comparison.high))), "
            + "\(Numbers.timeChange(comparison.difference)) a launch "
            + "(\(Numbers.timeChange(comparison.differenceLow)) to "
            + "\(Numbers.timeChange(comparison.differenceHigh))); "
            + "\(Numbers.count(comparison.pairs, "pair")) of launches, "
            + "each bound \(Numbers.share(comparison.confidence)) sure"
    }
}
