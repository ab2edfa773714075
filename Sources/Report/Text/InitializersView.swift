import Analysis
import Exports
import ProfileModel

/// The initialisers that ran, heaviest first, and the call trees of the heaviest ones.
struct InitializersView {
    let profile: Profile
    let options: TextOptions

    /// How many trees are shown, and where they are cut, by default.
    private static let (trees, percent, depth) = (8, 2.0, 16)
    /// Shorter ones have hardly any stacks.
    private static let leastTree = TimeSpan.milliseconds(1)

    func render() -> String {
        let runs = InitializerTable.heaviestFirst(profile, options.selection)
        guard !runs.isEmpty else { return Self.none.wrapped(to: options.columns) }
        let shown = Array(runs.prefix(options.depth ?? .max))
        var table = InitializerTable(profile: profile, options: options, runs: shown).table()
        table.columns += [.init(title: "START", spareRank: 3)]
        for (index, run) in shown.enumerated() {
            table.rows[index].append(.init(Numbers.time(run.start)))
        }
        let blocks =
            [
                figures(runs).wrapped(to: options.columns),
                table.render(width: options.columns, colour: options.usesColour),
            ] + shown.prefix(Self.trees).compactMap(tree)
        return blocks.joined(separator: "\n")
    }

    private static let none =
        "no initialisers were seen here: the program and its libraries have none (Swift and Rust "
        + "code has none, it initialises its globals when they are first used), or they could "
        + "not be watched in this recording"

    private func figures(_ runs: [InitializerFigures]) -> String {
        let wall = TimeWindows(runs.map { $0.start..<$0.end }).length
        let unfinished = runs.filter { !$0.isComplete }.count
        return Numbers.count(runs.count, "initialiser") + " in \(Numbers.time(wall)) together, "
            + "timed by the threads that ran them; times include what they called, also other "
            + "initialisers (by dlopen)"
            + (unfinished > 0 ? "; \(unfinished) never returned, timed up to the last sample" : "")
    }

    /// The stacks of its thread during the run, from the initialiser's own frame on.
    private func tree(_ run: InitializerFigures) -> String? {
        guard run.wall >= Self.leastTree else { return nil }
        let weight = options.weight ?? .wall
        let tree = profile.topDown(profile.selection(of: run), weight: weight)
        let function = profile.frames[run.frame].function
        let own = tree.outermost { tree.frames[tree.nodes[$0].frame].function == function }
        guard !own.isEmpty else { return nil }
        var view = TreeTable(
            tree: tree, options: options, percent: options.minPercent ?? Self.percent)
        view.options.depth = options.depth ?? Self.depth
        view.roots = own
        view.title = "BELOW " + profile.frames[function].name.escapedForDisplay
        return view.render()
    }
}

/// Initialisers with their place in the source and their times.
struct InitializerTable {
    let profile: Profile
    let options: TextOptions
    let runs: [InitializerFigures]
    var caption: String?

    /// The initialisers of a selection, by wall time, then in the order in which they ran.
    static func heaviestFirst(
        _ profile: Profile, _ selection: Selection
    ) -> [InitializerFigures] {
        let found = profile.initializers.filter {
            profile.includes(selection, from: $0.start, to: $0.end, thread: $0.thread)
        }
        return found.indices.sorted {
            (found[$1].wall, $0) < (found[$0].wall, $1)
        }.map { found[$0] }
    }

    func table() -> TextTable {
        var table = TextTable(
            columns: FrameCells.columns(title: "INITIALISER", options)
                + [.init(title: "CPU"), .init(title: "WALL")])
        table.caption = caption
        table.fill = caption == nil ? 0 : StackTableView.comfortable
        table.rows = runs.map(row)
        return table
    }

    private func row(_ run: InitializerFigures) -> [TextTable.Cell] {
        var cells = FrameCells.cells(run.frame, of: profile.frames, options)
        if !run.isComplete { cells[0].suffix += " (never returned)" }
        if profile.frames[run.frame].file == nil, let file = run.file, let last = cells.indices.last
        {
            cells[last] = TextTable.Cell(file.escapedForDisplay, style: .dim)
        }
        return cells + [run.cpu, run.wall].map { .init(Numbers.cell($0)) }
    }
}

extension CallTree {
    /// The positions of the nodes that are `wanted` and have no such node above them.
    func outermost(_ wanted: (Int) -> Bool) -> [Int] {
        var found: [Int] = []
        var pending = Array(roots.reversed())
        while let node = pending.popLast() {
            if wanted(node) {
                found.append(node)
            } else {
                pending += nodes[node].children.reversed()
            }
        }
        return found
    }
}
