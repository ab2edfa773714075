import Analysis
import Exports
import ProfileModel

/// The measured programs and the conditions; the answer in a sentence; and the facts that a reader
/// must know before trusting it.
struct PageHeader {
    let model: PageModel

    func render() -> Markup {
        let parts: [Markup] =
            [
                Markup("h1", [:], text: title),
                Markup("p", ["class": "figures"], text: figures.joined(separator: " · ")),
            ] + commands + [verdict].compactMap { $0 } + [facts]
            + notes.map { Markup("p", ["class": "note"], text: $0) }
        return Markup("header", [:], [.lines(parts)])
    }

    var title: String { model.names.title }

    /// "median 42.31 ms (42.02 to 42.92 ms)", "20 launches", "warm"; for two arms, both.
    var figures: [String] {
        let cache = MeasurementFacts.cache(model.measurement.conditions.cache)
        let walls = model.arms.map { $0.summary?.wall }
        guard walls.contains(where: { $0 != nil }) else { return ["no launch counts", cache] }
        let counts = walls.map { $0?.count ?? 0 }
        let launches = counts.map { Numbers.grouped($0) }.joined(separator: " and ")
        return [
            "median " + walls.map(Self.median).joined(separator: " against "),
            launches + (counts == [1] ? " launch" : " launches"), cache,
        ]
    }

    private static func median(_ wall: Distribution?) -> String {
        guard let wall else { return Numbers.unknown }
        let interval = wall.interval.map { " (\(Quantity.time.range($0.low, $0.high)))" }
        return Quantity.time.text(wall.median) + (interval ?? "")
    }

    private var commands: [Markup] {
        zip(model.arms, model.measurement.arms).map { arm, measured in
            let command = measured.commandAndPath.shortened(to: Self.longCommand)
            let code = Markup("code", [:], text: command)
            let label = model.arms.count > 1 ? [PageParts.label(arm), Markup(" ")] : []
            return Markup("p", ["class": "command"], label + [code])
        }
    }

    private var verdict: Markup? {
        guard model.arms.count == 2 else { return nil }
        guard let comparison = model.summary.comparison else {
            return Markup(
                "p", ["class": "verdict inconclusive"], text: ComparisonWords.tooFew(model.names))
        }
        let words = ComparisonWords(comparison: comparison, names: model.names)
        return Markup(
            "p", ["class": "verdict \(comparison.verdict.rawValue)"],
            text: "\(words.verdict): \(words.change)")
    }

    // MARK: Facts

    private var facts: Markup {
        let measurement = model.measurement
        let (header, conditions) = (measurement.header, measurement.conditions)
        let under =
            [MeasurementFacts.cache(conditions.cache)] + MeasurementFacts.limits(conditions)
            + [MeasurementFacts.until(conditions)]
        let made =
            [MeasurementFacts.date(header), "firstlight \(header.recorderVersion)"]
            .compactMap { $0 }
        let entries: [(String, String?)] = [
            ("Version", header.versionName), ("Conditions", under.joined(separator: " · ")),
            (
                "Machine",
                MeasurementFacts.machine(measurement.machine).joined(separator: " · ")
            ),
            ("Launches", launches), ("Measuring", MeasurementFacts.measuring(measurement.launches)),
            ("Measured", made.joined(separator: " · ")),
        ]
        let rows = entries.flatMap { name, value -> [Markup] in
            guard let value else { return [] }
            return [Markup("dt", [:], text: name), Markup("dd", [:], text: value)]
        }
        return Markup("dl", ["class": "conditions"], rows)
    }

    /// "20 of each program count (20 asked for), 2 do not"
    private var launches: String {
        let counts = model.arms.map { Numbers.grouped($0.counted.count) }
        let all = model.measurement.launches.count
        let discarded = all - model.arms.reduce(0) { $0 + $1.counted.count }
        let asked = Numbers.grouped(model.measurement.header.requested)
        return "\(counts.joined(separator: " and ")) count (\(asked)"
            + "\(counts.count > 1 ? " of each" : "") asked for), \(Numbers.grouped(discarded)) "
            + (discarded == 1 ? "does not" : "do not")
    }

    private var notes: [String] {
        let disturbances = model.arms.flatMap { arm in
            let words = DisturbanceWords(measurement: model.measurement, arm: arm.index)
            let prefix = model.arms.count > 1 ? "\(arm.label): " : ""
            return (arm.summary?.disturbances ?? []).map { prefix + words.text($0) }
        }
        let ending = MeasurementFacts.ending(model.measurement.header.ending)
        let unknown = MeasurementFacts.unknown(model.measurement.launches)
        return ([ending] + disturbances + [unknown]).compactMap { $0 }
    }

    private static let longCommand = 2_000
}
