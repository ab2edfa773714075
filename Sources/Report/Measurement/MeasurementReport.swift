package import Analysis
import Exports
package import ProfileModel

/// A measurement for people and for programs. Pure: the same values give the same bytes. All texts
/// end in a line break.
package enum MeasurementReport {
    /// For a terminal; among the options only width and colours count.
    package static func text(
        _ measurement: Measurement, _ summary: MeasurementSummary,
        options: TextOptions = TextOptions()
    ) -> String {
        let names = ArmNames(measurement.arms)
        let head = MeasurementHeader(
            measurement: measurement, summary: summary, names: names, options: options)
        let scale = LaunchStrip.Scale(measurement.launches)
        var blocks = [head.render()]
        if measurement.arms.count > 1 {
            blocks.append(
                ComparisonSection(comparison: summary.comparison, names: names, options: options)
                    .render())
        }
        for (index, arm) in summary.arms.enumerated() where measurement.arms.indices ~= index {
            let section = ArmSection(
                measurement: measurement, arm: index, summary: arm, name: names[index],
                scale: scale, options: options)
            blocks += section.blocks
        }
        return blocks.joined(separator: "\n")
    }

    /// By the schema in `docs/json.md`, which may only grow.
    package static func json(
        _ measurement: Measurement, _ summary: MeasurementSummary
    ) -> String {
        MeasurementJSON(measurement: measurement, summary: summary).render()
    }

    /// One row for each launch, with phases as columns: `docs/cli.md` describes them.
    package static func csv(_ measurement: Measurement) -> String {
        MeasurementCSV(measurement).render()
    }
}

/// The first arm compared with the second: the verdict, and the size of the difference.
struct ComparisonSection {
    let comparison: Comparison?
    let names: ArmNames
    let options: TextOptions

    func render() -> String {
        guard let comparison else {
            return ComparisonWords.tooFew(names).wrapped(to: options.columns)
        }
        let words = ComparisonWords(comparison: comparison, names: names)
        let verdict = words.verdict.wrapped(to: options.columns)
        return (options.usesColour ? verdict.emphasised : verdict)
            + words.figures.wrapped(to: options.columns)
    }
}

extension String {
    /// Each line as a heading.
    var emphasised: String {
        split(separator: "\n").map { Style.heading.applied(to: String($0)) + "\n" }.joined()
    }
}
