package import Analysis
import Exports
package import ProfileModel

/// A gate's answer for people and for programs. Pure: the same values give the same bytes.
package struct GateReport: Sendable {
    package let result: GateResult
    package let measurement: Measurement
    let names: ArmNames

    /// - Parameter baseline: the name of a stored baseline; nil: the baseline is the measurement's
    ///   second program.
    package init(_ result: GateResult, _ measurement: Measurement, baseline: String? = nil) {
        self.result = result
        self.measurement = measurement
        names =
            baseline.map { ArmNames(measurement.arms, against: $0) } ?? ArmNames(measurement.arms)
    }

    var words: GateWords { GateWords(result: result, names: names) }

    /// The answer in one line.
    package var verdict: String { words.verdict }

    /// The grounds of the answer, one sentence each.
    package var grounds: [String] { words.grounds }

    /// For a terminal; among the options only width and colours count. Ends in a line break.
    package func text(options: TextOptions = TextOptions()) -> String {
        let verdict = words.verdict.wrapped(to: options.columns, after: "", indent: 2)
        var blocks = [
            (options.usesColour ? verdict.emphasised : verdict)
                + words.grounds.map { $0.wrapped(to: options.columns, after: " ") }.joined()
        ]
        if !result.phases.isEmpty {
            blocks.append(GatePhaseTable(report: self, options: options).render())
        }
        let notes = notes.map { $0.text.wrapped(to: options.columns, after: " ") }
        if !notes.isEmpty { blocks.append(notes.joined()) }
        return blocks.joined(separator: "\n")
    }

    /// The disturbances.
    var notes: [(kind: String, text: String)] {
        MeasurementSummary(of: measurement).arms.enumerated().flatMap { arm, figures in
            let words = DisturbanceWords(measurement: measurement, arm: arm)
            let prefix = measurement.arms.count > 1 ? "\(names[arm]): " : ""
            return figures.disturbances.map {
                (DisturbanceWords.kind($0), prefix + words.text($0))
            }
        }
    }
}
