import Analysis
import ProfileModel

/// What a comparison begins with: both launches, and which of them is the faster one.
struct ComparisonHeader {
    let comparison: ProfileComparison
    let options: TextOptions

    func render() -> String {
        let verdict = Self.verdict(comparison.wall)
        return line(.before) + line(.after)
            + (options.usesColour ? Style.heading.applied(to: verdict) : verdict) + "\n"
    }

    private func line(_ side: Side) -> String {
        let section = HeaderSection(profile: comparison.profiles[side], options: options)
        var parts = section.figures + [section.outcome].compactMap { $0 }
        parts[0] = "\(side.name): \(parts[0])"
        return parts.wrappedParts(to: options.columns)
    }

    /// "2.200 s faster (-87.6 %)"
    static func verdict(_ wall: Compared<TimeSpan>) -> String {
        let change = wall.difference
        guard change != .zero else { return "no difference" }
        let size = change < .zero ? TimeSpan.zero - change : change
        let share = Numbers.changeInPercent(wall).map { " (\($0))" }
        return Numbers.preciseTime(size) + (change < .zero ? " faster" : " slower") + (share ?? "")
    }
}

extension Side {
    var name: String {
        switch self {
        case .before: "before"
        case .after: "after"
        }
    }
}

/// What is to be known before a difference is believed.
struct ComparisonNotes {
    let comparison: ProfileComparison

    func render(width: Int) -> String {
        texts.map { ("Note: " + $0 + ".").escapedForDisplay.wrapped(to: width) }.joined()
    }

    var texts: [String] {
        let measured = Side.allCases.flatMap { side in
            comparison.profiles[side].measurementNotes().map { "\(side.name): \($0.text)" }
        }
        return [ends].compactMap { $0 } + measured + [Self.single]
    }

    private static let single =
        "each side is a single launch, and launches differ from run to run; "
        + "'firstlight measure --against' tells whether one program is slower"

    /// Where the launches end by different things, the ends are not the same moment.
    private var ends: String? {
        let ends = comparison.profiles.map(end)
        guard ends.before != ends.after else { return nil }
        return "before ends \(ends.before), after ends \(ends.after): these may be different "
            + "moments of a launch"
    }

    private func end(of profile: Profile) -> String {
        if let ready = profile.ready { return "when it was ready (\(ready.by))" }
        return switch profile.header.outcome {
        case .exited, .signalled: "with the program"
        case .running: "while the program ran on"
        case .unknown: "where its recording was cut short"
        }
    }
}
