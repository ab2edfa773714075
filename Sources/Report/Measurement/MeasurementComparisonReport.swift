package import Analysis
import Exports

/// Two measurements side by side, for people and for programs. Pure. All texts end in a line break.
package struct MeasurementComparisonReport: Sendable {
    package let comparison: MeasurementComparison
    /// The names of both: the files' names.
    let names: ArmNames

    package init(_ comparison: MeasurementComparison, before: String, after: String) {
        self.comparison = comparison
        names = ArmNames(named: [after, before])
    }

    /// Why they are not compared, in one line.
    package static func text(_ refusal: MeasurementComparison.Refusal) -> String {
        switch refusal {
        case .nothingMeasured(let side):
            "no launch \(side.rawValue) counts: there is nothing to compare"
        case .mismatches(let found):
            text(found) + " (--anyway compares them)"
        }
    }

    /// Why figures are not compared.
    static func text(_ mismatches: [MeasurementMismatch]) -> String {
        "figures measured under different circumstances cannot be compared: "
            + mismatches.map(MismatchWords.text).joined(separator: "; ")
    }

    /// The answer in one line.
    package var verdict: String {
        let (after, before) = (names[0], names[1])
        return switch comparison.verdict {
        case .slower: "\(after) is slower than \(before) by more than is allowed"
        case .faster: "\(after) is faster than \(before)"
        case .same: "\(after) is not slower than \(before) by more than is allowed"
        case .inconclusive:
            "inconclusive: these figures cannot tell whether \(after) is slower than \(before)"
        }
    }

    /// The grounds and the unknown facts, one sentence each.
    package var grounds: [String] {
        [
            UnpairedWords.figures(comparison.launch),
            "the two were not measured in turns, so the difference includes what the machine did "
                + "differently ('firstlight measure --against' takes turns)",
        ] + comparison.mismatches.map(MismatchWords.text)
    }

    /// For a terminal; among the options only width and colours count.
    package func text(options: TextOptions = TextOptions()) -> String {
        let verdict = verdict.wrapped(to: options.columns, after: "", indent: 2)
        let grounds = grounds.map { $0.wrapped(to: options.columns) }.joined()
        return (options.usesColour ? verdict.emphasised : verdict) + grounds + "\n"
            + table.render(width: options.columns, colour: options.usesColour)
    }

    /// The most expensive ones; JSON has all.
    private static let mostProcesses = 12

    private var table: TextTable {
        var table = TextTable(
            columns: [
                TextTable.Column(title: "", alignment: .left, minimum: 12),
                TextTable.Column(title: "BEFORE"), TextTable.Column(title: "AFTER"),
                TextTable.Column(title: "DIFFERENCE"), TextTable.Column(title: "BOUNDS"),
            ])
        table.rows =
            [row("Launch", comparison.launch)]
            + comparison.phases.map { row($0.name.escapedForDisplay, $0.difference, prefix: "  ") }
            + comparison.processes.prefix(Self.mostProcesses).map {
                row("started: " + $0.name.escapedForDisplay, $0.difference)
            }
        return table
    }

    private func row(
        _ name: String, _ found: UnpairedDifference, prefix: String = ""
    ) -> [TextTable.Cell] {
        var title = TextTable.Cell(name)
        title.prefix = prefix
        let bounds = found.difference
        return [title]
            + [
                Quantity.time.text(found.medianBefore), Quantity.time.text(found.median),
                Quantity.time.signed(bounds.value),
                "\(Quantity.time.signed(bounds.low)) to \(Quantity.time.signed(bounds.high))",
            ].map { TextTable.Cell($0) }
    }

    /// One JSON object.
    package func json() -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("schema", JSONSchema.compare.version)
            writer.field("kind", "measurement-comparison")
            writeFields(&writer)
            writer.endLine()
        }
        writer.endLine()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// All members except those that distinguish objects of this kind.
    func writeFields(_ writer: inout JSONWriter) {
        writer.field("verdict", comparison.verdict.rawValue)
        writer.field("text", verdict)
        writer.key("grounds")
        writer.array(grounds) { $0.value($1) }
        writer.field("interleaved", false)
        writer.field("intervalNs", comparison.interval)
        writer.key("mismatches")
        writer.array(comparison.mismatches) { MismatchWords.write($1, &$0) }
        writer.key("launch")
        UnpairedJSON.write(comparison.launch, &writer)
        for (name, parts) in [
            ("phases", comparison.phases), ("processes", comparison.processes),
        ] {
            writer.key(name)
            writer.array(parts, inLines: true) { writer, part in
                writer.object { writer in
                    writer.field("name", part.name)
                    writer.key("difference")
                    UnpairedJSON.write(part.difference, &writer)
                }
            }
        }
    }
}
