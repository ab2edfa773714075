package import Analysis
import Exports
import ProfileModel

/// What costs most over many launches, as text for a terminal. Pure: the same summary and options
/// give the same bytes.
package enum TopReport {
    /// The report, its last line ended by a line break.
    ///
    /// - Parameter options: only width, colour and depth (how many lines a list has at most) count.
    package static func text(
        _ summary: TopSummary, options: TextOptions = TextOptions()
    ) -> String {
        var blocks: [String] = []
        for program in summary.programs {
            blocks.append(
                TopHeader(program: program, phase: summary.phase, options: options).render())
            blocks += ResolvedTables(program: program, options: options).tables()
            blocks += TopLists(program: program, options: options).tables()
        }
        blocks.append(TopNotes(summary: summary).render(width: options.columns))
        return blocks.joined(separator: "\n")
    }
}

/// The beginning of a program's part of the report.
struct TopHeader {
    let program: TopProgram
    let phase: String?
    let options: TextOptions

    /// If there are more versions, the oldest are left out.
    private static let most = 10

    func render() -> String {
        let title = parts.wrappedParts(to: options.columns)
        let rest = remarks.map { $0.wrapped(to: options.columns) }.joined()
        return title + rest + (versions.map { "\n" + $0 } ?? "")
    }

    private var parts: [String] {
        let name = program.name.escapedForDisplay
        let unit = phase.map { "\($0.escapedForDisplay) in a launch" } ?? "a launch"
        let time = "\(unit) takes \(Numbers.preciseTime(program.wall.mean))"
        let margin = program.wall.margin.map { " ± \(Numbers.preciseTime($0))" } ?? ""
        let count =
            program.launches == 1
            ? "1 launch" : "\(Numbers.grouped(program.launches)) launches"
        let versions = program.versions.count
        return [name.isEmpty ? "a program without a name" : name, count, time + margin]
            + (versions > 1 ? ["\(Numbers.grouped(versions)) versions"] : [])
    }

    private var remarks: [String] {
        let remarks = program.remarks
        return [
            remarks.failed > 0
                ? "\(Numbers.grouped(remarks.failed)) of these launches failed (by a signal or an "
                    + "exit status other than 0)" : nil,
            remarks.differInEnds
                ? "launches differ in what ended them (--until): they may have ended at different "
                    + "moments of the launch" : nil,
            remarks.differInCapture ? "launches differ in how their stacks were taken" : nil,
            remarks.differInArguments ? "launches differ in the program's arguments" : nil,
        ].compactMap { $0.map { "  " + $0 } }
    }

    /// nil: there is only one version.
    private var versions: String? {
        guard program.versions.count > 1 else { return nil }
        var table = TextTable(columns: [
            .init(title: "BUILD ID", alignment: .left), .init(title: "LAUNCHES"),
            .init(title: "PER LAUNCH"), .init(title: "± 95 %"),
            .init(title: "RECORDED", alignment: .left, spareRank: 2),
            .init(title: "UP TO", alignment: .left, spareRank: 1),
        ])
        table.rows = program.versions.suffix(Self.most).map { version in
            let time = MeanTime?.some(version.wall)
            return [
                .init(version.shortName), .init(Numbers.grouped(version.launches)), time.cell,
                time.marginCell, date(version.first), date(version.last),
            ]
        }
        let older = program.versions.count - table.rows.count
        let more = older > 0 ? "  … \(Numbers.count(older, "older version"))\n" : ""
        return more + table.render(width: options.columns, colour: options.usesColour)
    }

    private func date(_ launch: TopLaunch) -> TextTable.Cell {
        TextTable.Cell(
            CalendarDate(secondsSince1970: launch.date)?.text ?? "?", style: .dim)
    }
}

/// What a reader must know about the figures.
struct TopNotes {
    let summary: TopSummary

    func render(width: Int) -> String {
        texts.map { ("Note: " + $0 + ".").escapedForDisplay.wrapped(to: width) }.joined()
    }

    private var texts: [String] {
        [hidden, unseen, intervals].compactMap { $0 }
    }

    private var intervals: String {
        let single = summary.programs.contains { $0.launches == 1 }
        return "figures are wall time of the main thread; a launch in which something was not seen "
            + "counts as 0. ± is half of the mean's 95 % interval, by Student's t"
            + (single ? "; ? is unknown, because there is only one launch" : "")
    }

    private var hidden: String? {
        let count = summary.programs.reduce(0) { count, program in
            count + program.resolved.count { $0.status != .back }
        }
        guard count > 0 else { return nil }
        return count == 1
            ? "one resolved thing (--resolved) is not in the lists"
            : "\(Numbers.grouped(count)) resolved things (--resolved) are not in the lists"
    }

    private var unseen: String? {
        guard let first = summary.unseen.first else { return nil }
        let more = summary.unseen.count - 1
        return "resolved (--resolved), and not in these recordings at all: "
            + "\(first.thing.kind.rawValue) '\(first.thing.name)'"
            + (more > 0 ? " and \(Numbers.grouped(more)) more" : "")
    }
}
