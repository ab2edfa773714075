package import Analysis
package import ProfileModel

/// A measurement for people and for programs. Pure: the same values give the same bytes. All texts
/// end in a line break.
package enum MeasurementReport {
    /// For a terminal; of the options, the width and the colours count.
    package static func text(
        _ measurement: Measurement, _ summary: MeasurementSummary,
        options: TextOptions = TextOptions()
    ) -> String {
        let names = ArmNames(measurement)
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

    /// By the schema that `docs/json.md` describes: only ever added to.
    package static func json(
        _ measurement: Measurement, _ summary: MeasurementSummary
    ) -> String {
        MeasurementJSON(measurement: measurement, summary: summary).render()
    }

    /// One row a launch, phases as columns: `docs/cli.md` describes them.
    package static func csv(_ measurement: Measurement) -> String {
        MeasurementCSV(measurement).render()
    }
}

/// What reports call the arms: as short as tells them apart.
struct ArmNames {
    private var names: [String]

    init(_ measurement: Measurement) {
        let arms = measurement.arms
        let choices = [
            arms.map { String($0.name) },
            arms.map(\.commandLine),
            arms.map(\.path),
            arms.enumerated().map { "\($0.element.name) (\($0.offset + 1))" },
        ]
        let shown = choices.map { names in
            names.map { $0.escapedForDisplay.shortened(to: Self.longest) }
        }
        let distinct = shown.first { Set($0).count == arms.count && !$0.contains("") }
        names = distinct ?? shown[3]
    }

    private static let longest = 40

    subscript(arm: Int) -> String { names.indices ~= arm ? names[arm] : "" }

    var count: Int { names.count }
}

extension MeasuredArm {
    /// As a shell takes it: what has a meaning there is in quotes.
    var commandLine: String { command.map(Self.quoted).joined(separator: " ") }

    private static func quoted(_ word: String) -> String {
        let isPlain = word.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || "0123456789@%+=:,./_-".unicodeScalars.contains($0)
        }
        guard word.isEmpty || !isPlain else { return word }
        let parts = word.split(separator: "'", omittingEmptySubsequences: false)
        return "'" + parts.joined(separator: "'\\''") + "'"
    }
}
