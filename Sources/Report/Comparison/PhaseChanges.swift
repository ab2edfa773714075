import Analysis
import Exports
import ProfileModel

/// What explains the difference of one phase: by place in the code, and by function.
struct PhaseChanges {
    let comparison: ProfileComparison
    let phase: ComparedPhase
    let options: TextOptions

    /// How many lines a table has by default.
    private static let (mostChanges, mostFunctions) = (8, 6)

    func tables() -> [String] { [withoutCore, changes, functions].compactMap { $0 } }

    private var name: String { phase.name.escapedForDisplay }

    // MARK: Without a core

    private static let leastWithoutCore = TimeSpan.milliseconds(5)

    /// The part of the difference in which the main thread had no core; nil: less than a fifth of
    /// the difference.
    private var withoutCore: String? {
        let lacked = phase.cost.map { max(.zero, $0.wall - $0.cpu - $0.blocked) }
        let difference = lacked.difference
        guard difference.magnitude >= Self.leastWithoutCore.magnitude,
            difference.magnitude >= phase.wall.difference.magnitude / 5
        else { return nil }
        return
            ("\(name): \(Numbers.change(difference)) is time for which the main thread had no core "
            + "(\(Numbers.time(lacked.before)) before, \(Numbers.time(lacked.after)) after): other work "
            + "on the machine, or threads of its own. Differences of CPU and of blocked time are "
            + "without it.").wrapped(to: options.columns)
    }

    // MARK: By place

    /// nil: nothing changed by enough.
    private var changes: String? {
        guard !phase.changes.isEmpty else { return nil }
        let shown = phase.changes.prefix(options.depth ?? Self.mostChanges)
        var table = table([
            .init(title: "of it CPU", spareRank: 3), .init(title: "blocked", spareRank: 4),
        ])
        table.caption =
            "\(name): what accounts for \(Numbers.change(phase.wall.difference))"
        table.rows = shown.map(row)
        let cost = shown.reduce(Compared<Cost>.zero) { $0 + $1.cost }
        if let rest = rest(of: cost) { table.rows.append(rest) }
        return table.render(width: options.columns, colour: options.usesColour)
    }

    private func row(_ change: Change) -> [TextTable.Cell] {
        let node = phase.topDown.nodes[change.node]
        var cells = cells(of: node.function, node.frames)
        // If there is room for both.
        if options.columns >= Self.widthForCallers,
            let caller = comparison.ownCaller(of: change.node, in: phase.topDown)
        {
            cells[0].text += " ← " + comparison.functions[caller].name.escapedForDisplay
        }
        if change.kind != .changed { cells[0].suffix = " (\(change.kind.rawValue))" }
        return cells + figures(change.cost)
    }

    private func figures(_ cost: Compared<Cost>) -> [TextTable.Cell] {
        cost.map(\.wall).cells
            + [cost.difference.cpu, cost.difference.blocked].map { TextTable.Cell.change($0) }
    }

    /// The last line, so that all lines add up to the phase.
    private func rest(of shown: Compared<Cost>) -> [TextTable.Cell]? {
        let rest = phase.cost - shown
        guard rest != .zero else { return nil }
        let name = [TextTable.Cell("  everything else", style: .dim)]
        let empty = FrameCells.columns(options).dropFirst().map { _ in TextTable.Cell("") }
        return name + empty + figures(rest)
    }

    // MARK: By function

    /// nil: no function's own time changed by enough.
    private var functions: String? {
        let changed = comparison.changedFunctions(of: phase)
        guard !changed.isEmpty else { return nil }
        var table = table([.init(title: "with callees", spareRank: 3)])
        table.caption = "\(name): functions by their own time"
        table.rows = changed.prefix(options.depth ?? Self.mostFunctions).map { function in
            cells(of: function.function, phase.frames(of: function.function))
                + function.own.map(\.wall).cells
                + [.change(function.total.map(\.wall).difference)]
        }
        return table.render(width: options.columns, colour: options.usesColour)
    }

    // MARK: Cells

    private static let (widthForCallers, leastName) = (130, 36)

    /// - Parameter more: columns after before, after and difference.
    private func table(_ more: [TextTable.Column]) -> TextTable {
        var table = TextTable(
            columns: FrameCells.columns(options)
                + Compared<TimeSpan>.titles.map { .init(title: $0) } + more)
        if FrameCells.columns(options).count > 2 {
            // If there is a column for modules, it is dropped before the figures.
            table.columns[0].minimum = Self.leastName
            table.columns[1].spareRank = 5
        }
        table.fill = StackTableView.comfortable
        return table
    }

    private func cells(
        of function: FunctionID, _ frames: Compared<SeenFrame?>
    ) -> [TextTable.Cell] {
        comparison.cells(of: function, frames, options)
    }
}

extension ProfileComparison {
    /// Name, module and place; from the later launch if it has the frame.
    func cells(
        of function: FunctionID, _ frames: Compared<SeenFrame?>, _ options: TextOptions
    ) -> [TextTable.Cell] {
        FrameCells.cells(functions[function], place: place(of: frames), options)
    }
}

extension ComparedPhase {
    /// For the main thread; the wall time is the phase's.
    var cost: Compared<Cost> {
        figures.map { figures in
            figures.map {
                Cost(wall: $0.wall, cpu: $0.mainThread.running, blocked: $0.mainThread.blocked)
            }
                ?? .zero
        }
    }
}
