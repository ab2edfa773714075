import Analysis
import Exports
import ProfileModel

/// One comparison of two versions as text: first its subject, then the same as for a comparison of
/// files.
struct VersionSection {
    let request: VersionRequest
    let comparison: VersionComparison
    let options: TextOptions

    func render() -> String {
        let figures = MeasurementComparisonReport(
            comparison.figures, before: request.before, after: request.after)
        let sides = [
            side("before", request.before, pair.before), side("after", request.after, pair.after),
        ]
        let notes = [command, "on " + machine] + sides + thinned
        return facts.wrappedParts(to: options.columns)
            + notes.map {
                $0.shortened(to: 3 * options.columns).wrapped(to: options.columns)
            }.joined() + "\n" + figures.text(options: options)
    }

    private var pair: VersionPair { comparison.pair }
    private var circumstances: Measurement { pair.after.circumstances }

    /// "app", "warm", "until window".
    private var facts: [String] {
        let conditions = circumstances.conditions
        return [
            request.program.escapedForDisplay, MeasurementFacts.cache(conditions.cache),
            MeasurementFacts.until(conditions),
        ] + MeasurementFacts.limits(conditions)
    }

    private var command: String { circumstances.arms.first?.commandAndPath ?? "" }

    private var machine: String {
        var machine = circumstances.machine
        if !isOneMachine { machine.host = "machines like \(machine.host)" }
        return MeasurementFacts.machine(machine).joined(separator: ", ")
    }

    private var isOneMachine: Bool {
        pair.before.machines == 1 && pair.after.machines == 1
            && pair.before.circumstances.machine.host == circumstances.machine.host
    }

    /// "before: 1.0, 990 launches in 10 measurements on 9 machines"
    private func side(_ word: String, _ version: String, _ sessions: VersionSessions) -> String {
        "\(word): \(version.escapedForDisplay), \(Numbers.launches(sessions.launches)) in "
            + "\(Numbers.count(sessions.sessions, "measurement")) on "
            + Numbers.count(sessions.machines, "machine")
    }

    private var thinned: [String] {
        guard comparison.isThinned else { return [] }
        let most = Numbers.grouped(ThinnedValues.most)
        return [
            "differences and bounds use at most \(most) evenly spaced launches of each version: "
                + "the bounds are wider than with all launches"
        ]
    }
}
