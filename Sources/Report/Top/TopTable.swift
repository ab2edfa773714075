import Analysis
import Exports
import ProfileModel

/// A list of the most expensive things, with their costs per launch.
struct TopTable {
    let program: TopProgram
    let options: TextOptions
    var caption: String
    /// The titles of the rows' names and places in the code.
    var columns: [TextTable.Column]
    var most: Int
    /// Columns between share and launches.
    var more: [TextTable.Column] = []

    /// How many versions have their own column, and how many characters of a build id are shown.
    static let (mostVersions, idLength) = (3, 8)
    private static let leastName = 36

    /// nil: there is nothing to show.
    ///
    /// - Parameters:
    ///   - things: the heaviest first.
    ///   - figure: the figure to show; nil: unknown.
    ///   - cells: for `columns` and `more`.
    func render(
        _ things: [TopThing], _ figure: (TopFigures) -> MeanTime?,
        _ cells: (TopThing) -> (what: [TextTable.Cell], more: [TextTable.Cell])
    ) -> String? {
        let wanted = things.filter { thing in
            guard !thing.isSettled, let time = figure(thing.figures) else { return false }
            // If the user asks for a number of lines, cheap things may be among them.
            return time.mean > (options.depth == nil ? least : .zero)
        }
        guard !wanted.isEmpty else { return nil }
        var table = TextTable(columns: columns + titles)
        if columns.count == FrameCells.columns(options).count, columns.count > 2 {
            // Names are more important than figures, and modules are dispensable.
            table.columns[0].minimum = Self.leastName
            table.columns[1].spareRank = 6
        }
        table.caption = caption
        table.fill = StackTableView.comfortable
        table.rows = wanted.prefix(options.depth ?? most).map { thing in
            let (what, more) = cells(thing)
            let time = figure(thing.figures)
            let head = [time.cell, time.marginCell, share(of: time)]
            return what + head + more + [seen(thing.figures)]
                + versions.map { figure(thing.byVersion[$0]).cell }
        }
        return table.render(width: options.columns, colour: options.usesColour)
    }

    /// A thousandth of a launch.
    private var least: TimeSpan {
        TimeSpan(nanoseconds: program.wall.mean.nanoseconds / 1_000)
    }

    // MARK: Columns

    private var titles: [TextTable.Column] {
        [
            .init(title: "PER LAUNCH"), .init(title: "± 95 %", spareRank: 4),
            .init(title: "SHARE", spareRank: 8),
        ] + more + [.init(title: "SEEN IN", spareRank: 3)]
            + versions.map { position in
                // The newest two show whether it got better; older ones are dropped first.
                let age = program.versions.count - 1 - position
                return .init(
                    title: program.versions[position].shortName, spareRank: age < 2 ? 2 : 7)
            }
    }

    /// The positions of the versions with their own column: the newest.
    private var versions: [Int] {
        guard program.versions.count > 1 else { return [] }
        return Array(program.versions.indices.suffix(Self.mostVersions))
    }

    // MARK: Cells

    private func share(of time: MeanTime?) -> TextTable.Cell {
        TextTable.Cell(time.map { Numbers.percent($0.mean, of: program.wall.mean) } ?? "?")
    }

    private func seen(_ figures: TopFigures) -> TextTable.Cell {
        TextTable.Cell(
            "\(Numbers.grouped(figures.seen)) of \(Numbers.grouped(figures.launches))",
            style: figures.seen == figures.launches ? .dim : .plain)
    }
}

extension TopThing {
    /// True if it was resolved, and is not back.
    var isSettled: Bool { resolved.map { $0 != .back } ?? false }

    /// "logger.cpp:41"; empty: unknown.
    var place: String {
        Frame(function: FunctionID(0), file: file, line: line).place
    }
}

extension TopVersion {
    /// The beginning of the build id.
    var shortName: String {
        buildID.isEmpty ? "no build id" : String(buildID.hex.prefix(TopTable.idLength))
    }
}

extension MeanTime? {
    var cell: TextTable.Cell { TextTable.Cell(map { Numbers.cell($0.mean) } ?? "?") }

    /// A single launch tells nothing about the spread.
    var marginCell: TextTable.Cell {
        TextTable.Cell(flatMap(\.margin).map(Numbers.time) ?? "?", style: .dim)
    }
}
