import Analysis
import Exports
import ProfileModel

/// The beginning of a comparison: both launches, and which one is faster.
struct ComparisonHeader {
    let comparison: ProfileComparison
    let options: TextOptions

    func render() -> String {
        return line(.before) + line(.after)
            + (options.usesColour ? Style.heading.applied(to: verdict) : verdict) + "\n"
    }

    /// "no certain difference: on average 1.2 ms slower (+3.1 %): -0.4 ms to +2.8 ms with 95 %"
    var verdict: String { doubt + Self.verdict(comparison.wall) + sureness }

    private func line(_ side: Side) -> String {
        var parts = figures(of: side)
        parts[0] = "\(side.name): \(parts[0])"
        return parts.wrappedParts(to: options.columns)
    }

    /// The known figures of one side, at least one part; for several launches their mean, and the
    /// first launch.
    func figures(of side: Side) -> [String] {
        let section = HeaderSection(profile: comparison.profiles[side], options: options)
        let parts = section.figures + [section.cutShort].compactMap { $0 }
        let count = comparison.launches[side].count
        guard count > 1, let first = parts.first else { return parts }
        let mean = Numbers.time(comparison.wall[side])
        return ["\(count) launches of \(mean) on average", "the first: " + first]
            + parts.dropFirst()
    }

    /// What several launches leave uncertain.
    private var doubt: String {
        comparison.isSure(comparison.walls) ? "" : "no certain difference: on average "
    }

    /// ": -21.0 ms to -18.0 ms with 95 %"; empty if a side is a single launch.
    private var sureness: String {
        guard let interval = comparison.interval(of: comparison.walls) else { return "" }
        return ": \(Numbers.change(interval.low)) to \(Numbers.change(interval.high)) with 95 %"
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

/// What a reader must know before trusting a difference.
struct ComparisonNotes {
    let comparison: ProfileComparison

    func render(width: Int) -> String {
        texts.map { ("Note: " + $0 + ".").escapedForDisplay.wrapped(to: width) }.joined()
    }

    var texts: [String] {
        let measured = Side.allCases.flatMap { side in
            comparison.launches[side].enumerated().flatMap { launch, profile in
                let number = comparison.launches[side].count > 1 ? " \(launch + 1)" : ""
                return profile.measurementNotes().map { "\(side.name)\(number): \($0.text)" }
            }
        }
        return [ends].compactMap { $0 } + measured + [launches]
    }

    private var launches: String {
        guard !comparison.knowsSpread else { return Self.apart }
        let isEach = comparison.launches.before.count == comparison.launches.after.count
        return (isEach ? "each" : "one") + Self.single
    }

    private static let apart =
        "a difference is shown as a change only if its interval over the launches does not contain "
        + "0; the two sides may have been recorded at different times: 'firstlight measure "
        + "--against' takes turns"

    private static let single =
        " side is a single launch, and launches differ from run to run; "
        + "'firstlight measure --against' tells whether one program is slower"

    /// If different conditions ended the launches, their ends are not the same moment.
    private var ends: String? {
        let ends = comparison.launches.map { launches in Set(launches.map(end)) }
        guard ends.before != ends.after || ends.before.count > 1 else { return nil }
        let words = ends.map { $0.sorted().joined(separator: ", or ") }
        return "before ends \(words.before), after ends \(words.after): these may be different "
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
