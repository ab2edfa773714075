import Analysis
import Exports
import ProfileModel

/// The other differences: waits, processes, initialisers, libraries.
struct ComparedFacts {
    let comparison: ProfileComparison
    /// The names of the chosen phases; nil: all.
    let phases: Set<String>?
    let options: TextOptions

    private static let most = 8

    func tables() -> [String] {
        // Processes, initialisers and libraries belong to the launch as a whole.
        (phases == nil ? [waits, processes, initializers, libraries] : [waits]).compactMap { $0 }
    }

    /// nil: there is nothing to show.
    private func table(
        _ columns: [TextTable.Column], _ rows: [[TextTable.Cell]], caption: String, of noun: String
    ) -> String? {
        guard !rows.isEmpty else { return nil }
        var table = TextTable(
            columns: columns + Compared<TimeSpan>.titles.map { .init(title: $0) })
        table.caption = caption
        table.fill = StackTableView.comfortable
        let most = options.depth ?? Self.most
        table.rows = Array(rows.prefix(most))
        let more = rows.count > most ? "  … \(Numbers.count(rows.count - most, noun)) more\n" : ""
        return table.render(width: options.columns, colour: options.usesColour) + more
    }

    // MARK: Waits

    private var waits: String? {
        let changed = comparison.changedWaits.filter { wait in
            phases.map { wait.identity.phase.map($0.contains) ?? false } ?? true
        }
        let columns = [
            TextTable.Column(title: "", alignment: .left, minimum: 12),
            .init(title: "", alignment: .left, minimum: 12),
            .init(title: "", alignment: .left, minimum: 4, spareRank: 1),
        ]
        return table(
            columns, changed.map(row), caption: "The main thread's waits (of 1 ms or longer)",
            of: "wait")
    }

    private func row(_ wait: ComparedWait) -> [TextTable.Cell] {
        let identity = wait.identity
        let function = identity.function.map { comparison.functions[$0].cell() }
        return [
            .init(identity.reason.words.escapedForDisplay), function ?? .init(""),
            .init((identity.phase ?? "").escapedForDisplay, style: .dim),
        ] + wait.durations.cells
    }

    // MARK: Processes

    private var processes: String? {
        let columns = [
            TextTable.Column(title: "", alignment: .left, minimum: 12),
            .init(title: "PROCESSES", alignment: .left),
        ]
        return table(
            columns, comparison.changedProcesses.map(row),
            caption: "Processes that were started, and their wall time together", of: "name")
    }

    private func row(_ process: ComparedProcess) -> [TextTable.Cell] {
        let counts = comparison.countsPerLaunch(of: process)
        return [
            .init(process.name.escapedForDisplay),
            .init(process.isOfOtherCount ? "\(counts.before) → \(counts.after)" : counts.before),
        ] + process.wall.cells
    }

    // MARK: Initialisers

    private var initializers: String? {
        table(
            FrameCells.columns(options), comparison.changedInitializers.map(row),
            caption: "Initialisers (timed, not sampled)", of: "initialiser")
    }

    private func row(_ initializer: ComparedInitializer) -> [TextTable.Cell] {
        var cells = comparison.cells(
            of: initializer.function, initializer.frames, options)
        if initializer.frames.before == nil { cells[0].suffix = " (new)" }
        if initializer.frames.after == nil { cells[0].suffix = " (gone)" }
        return cells + initializer.wall.cells
    }

    // MARK: Libraries

    private var libraries: String? {
        let columns = [TextTable.Column(title: "", alignment: .left, minimum: 16)]
        return table(
            columns, comparison.changedLibraries.map(row),
            caption: "Libraries, and what loading (dlopen) or initialising them took",
            of: "library")
    }

    private func row(_ library: ComparedLibrary) -> [TextTable.Cell] {
        var name = TextTable.Cell(library.name.escapedForDisplay)
        name.suffix =
            library.loads.before == 0 ? " (new)" : library.loads.after == 0 ? " (gone)" : ""
        return [name] + library.wall.cells
    }
}
