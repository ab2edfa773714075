package import Analysis
import Exports
import ProfileModel

/// Two versions of a program, compared from a store for each kind of machine, for people and for
/// programs. Pure. All texts end in a line break.
package struct VersionComparisonReport: Sendable {
    private let request: VersionRequest
    private let comparisons: [VersionComparison]
    private let aloneBefore: Int
    private let aloneAfter: Int

    /// - Parameters:
    ///   - request: with the versions' full names.
    ///   - comparisons: for pairs of these.
    package init(
        _ request: VersionRequest, _ comparisons: [VersionComparison], of pairs: VersionPairs
    ) {
        (self.request, self.comparisons) = (request, comparisons)
        (aloneBefore, aloneAfter) = (pairs.aloneBefore, pairs.aloneAfter)
    }

    /// Why nothing is compared, in one line.
    package static func text(_ refusal: VersionPairs.Refusal) -> String {
        switch refusal {
        case .nothingMeasured(let side):
            MeasurementComparisonReport.text(.nothingMeasured(side))
        case .mismatches(let found): MeasurementComparisonReport.text(found)
        case .otherArguments:
            "the two versions have no launches with the same arguments"
        }
    }

    /// Why a version is unknown, in one line.
    package static func text(_ problem: VersionName.Problem) -> String {
        switch problem {
        case .unknown(let name):
            "no measured version's name is, or begins with, \(name.escapedForDisplay) "
                + "('firstlight history --from' shows versions)"
        case .ambiguous(let name, let found):
            "several versions begin with \(name.escapedForDisplay): "
                + found.map(\.escapedForDisplay).joined(separator: ", ")
        }
    }

    /// For a terminal; among the options only width and colours count.
    package func text(options: TextOptions = TextOptions()) -> String {
        let sections = comparisons.map {
            VersionSection(request: request, comparison: $0, options: options).render()
        }
        return sections.joined(separator: "\n")
            + (alone.map { "\n" + $0.wrapped(to: options.columns) } ?? "")
    }

    /// nil: all launches are compared.
    private var alone: String? {
        let parts = [(aloneBefore, request.before), (aloneAfter, request.after)]
            .filter { $0.0 > 0 }
            .map { "\(Numbers.launches($0.0)) of \($0.1.escapedForDisplay)" }
        guard !parts.isEmpty else { return nil }
        return "left out, because the other version was not measured in the same way: "
            + parts.joined(separator: ", ")
    }

    /// One JSON object.
    package func json() -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("schema", JSONSchema.compare.version)
            writer.field("kind", "version-comparison")
            writer.field("program", request.program)
            writer.field("before", request.before)
            writer.field("after", request.after)
            writer.key("leftOut")
            writer.object {
                $0.field("launchesBefore", aloneBefore)
                $0.field("launches", aloneAfter)
            }
            writer.breakLine()
            writer.key("comparisons")
            writer.array(comparisons, inLines: true) { write($1, &$0) }
            writer.endLine()
        }
        writer.endLine()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func write(_ comparison: VersionComparison, _ writer: inout JSONWriter) {
        let circumstances = comparison.pair.after.circumstances
        writer.object { writer in
            writer.key("program")
            MeasurementJSON.program(circumstances.arms.first, &writer)
            writer.key("machine")
            MeasurementJSON.machine(circumstances.machine, &writer)
            writer.key("conditions")
            MeasurementJSON.conditions(circumstances.conditions, &writer)
            for (name, side) in [
                ("before", comparison.pair.before), ("after", comparison.pair.after),
            ] {
                writer.key(name)
                writer.object {
                    $0.field("sessions", side.sessions)
                    $0.field("machines", side.machines)
                    $0.field("firstDateNs", side.firstDate)
                }
            }
            writer.field("thinned", comparison.isThinned)
            MeasurementComparisonReport(
                comparison.figures, before: request.before, after: request.after
            ).writeFields(&writer)
        }
    }
}

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
