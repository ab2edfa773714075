import Analysis
import Exports
import ProfileModel

/// The launches that do not count, the reasons, and the output of those that failed.
struct DiscardSection {
    let model: PageModel

    /// nil: all count.
    func render() -> Markup? {
        let launches = model.measurement.launches
        let discarded = launches.indices.filter { launches[$0].discarded != nil }
        guard !discarded.isEmpty else { return nil }
        let reasons = MeasuredLaunch.Discard.allCases.compactMap { reason -> Markup? in
            let those = discarded.filter { launches[$0].discarded == reason }
            return those.isEmpty ? nil : self.reason(reason, those)
        }
        let printed = discarded.filter { !launches[$0].output.isEmpty }
        return PageParts.section(
            "Launches that do not count",
            [Markup("ul", ["class": "discards"], [.lines(reasons)])]
                + printed.prefix(Self.mostOutputs).map(output))
    }

    private func reason(_ reason: MeasuredLaunch.Discard, _ launches: [Int]) -> Markup {
        let shown = launches.prefix(Self.mostNumbers).map(model.numberAndArm)
        let more = launches.count - shown.count
        let names = shown.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
        let noun = launches.count == 1 ? "launch" : "launches"
        return Markup(
            "li", ["data-reason": reason.rawValue],
            [
                Markup("strong", [:], text: Numbers.grouped(launches.count)),
                Markup(": \(DiscardWords.text(reason)) (\(noun) \(names))"),
            ])
    }

    private func output(_ index: Int) -> Markup {
        let launch = model.measurement.launches[index]
        let title =
            "\(LaunchWords(model).title(index)): \(OutcomeWords.text(launch.outcome)); "
            + "what it printed last"
        let lines = launch.output.split(separator: "\n", omittingEmptySubsequences: false)
        return Markup(
            "details", ["class": "output"],
            [
                Markup("summary", [:], text: title),
                Markup("pre", ["class": "excerpt"], [Markup(lines: lines.map(String.init))]),
            ])
    }

    private static let mostNumbers = 20
    private static let mostOutputs = 20
}
