import Analysis
import Exports
import ProfileModel

/// Everything that explains a launch: its phases, and of each the initialisers, the heaviest stacks and the
/// heaviest wait, unfolded; and all findings.
struct FullView {
    let profile: Profile
    let options: TextOptions

    func render() -> String {
        var blocks = [PhaseTable(options: options, phases: figures, whole: whole).render()]
        let remarks = PhaseRemarks(profile: profile, phases: figures).lines
        if !remarks.isEmpty {
            blocks.append(remarks.map { $0.wrapped(to: options.columns) }.joined())
        }
        let processes = ProcessSummary(profile: profile, options: options).render()
        if !processes.isEmpty { blocks.append(processes) }
        let points = PointsOfInterestTable(profile: profile, options: options).render()
        if !points.isEmpty { blocks.append(points) }
        for phase in detailed {
            blocks += PhaseInitializers(profile: profile, options: options, phase: phase).tables()
            blocks += PhaseStacks(profile: profile, options: options, phase: phase).tables()
        }
        blocks += FindingsView(profile: profile, options: options).blocks
        return blocks.joined(separator: "\n")
    }

    /// The phases with a part in the selection, within its windows.
    private var selected: [Int] {
        profile.phases.indices.filter { index in
            guard options.selection.phases?.contains(index) ?? true else { return false }
            return options.selection.windows == nil || figures(index).wall > .zero
        }
    }

    private func figures(_ index: Int) -> Phase { profile.phase(index, in: options.selection) }
    private var figures: [Phase] { selected.map { figures($0) } }

    private var whole: TimeSpan { options.selection.windows?.length ?? profile.launch.wall }

    /// The phases that deserve a stack: those with at least 2 % of the launch, or all chosen ones.
    private var detailed: [Int] {
        selected.filter { phase in
            let wall = Double(figures(phase).wall.nanoseconds)
            return options.selection.phases != nil || wall * 50 >= Double(whole.nanoseconds)
        }
    }
}

/// Wall, CPU and share of each phase, and what the main thread did in it.
struct PhaseTable {
    let options: TextOptions
    let phases: [Phase]
    /// The whole of the shares.
    let whole: TimeSpan

    private static let states: [(title: String, style: Style)] = [
        ("running", .running), ("runnable", .runnable), ("preempted", .preempted),
        ("blocked", .blocked),
    ]

    func render() -> String {
        let whole = table(figures: true, states: true)
        if whole.naturalWidth <= options.columns { return text(whole) }
        // If one table is too wide: two, one below the other.
        return text(table(figures: true, states: false)) + "\n"
            + text(table(figures: false, states: true))
    }

    private func text(_ table: TextTable) -> String {
        table.render(width: options.columns, colour: options.usesColour)
    }

    private func table(figures: Bool, states: Bool) -> TextTable {
        let name = figures ? "PHASE" : "MAIN THREAD"
        var columns = [TextTable.Column(title: name, alignment: .left, minimum: 12)]
        if figures { columns += ["WALL", "CPU", "SHARE"].map { TextTable.Column(title: $0) } }
        if states {
            columns += Self.states.map { TextTable.Column(title: $0.title, style: $0.style) }
            if figures { columns[4].title = "  main thread: " + columns[4].title }
        }
        var table = TextTable(columns: columns)
        table.rows = phases.map { row($0, figures: figures, states: states) }
        return table
    }

    private func row(_ phase: Phase, figures: Bool, states: Bool) -> [TextTable.Cell] {
        var result = [TextTable.Cell(phase.name.escapedForDisplay)]
        if figures {
            result.append(TextTable.Cell(Numbers.cell(phase.wall)))
            result.append(TextTable.Cell(Numbers.cell(phase.cpu)))
            result.append(TextTable.Cell(Numbers.percent(phase.wall, of: whole)))
        }
        if states {
            let times = phase.mainThread
            result += [times.running, times.runnable, times.preempted, times.blocked].map {
                TextTable.Cell(Numbers.cell($0))
            }
        }
        return result
    }
}

/// The heaviest initialisers of one phase in the summary.
struct PhaseInitializers {
    let profile: Profile
    let options: TextOptions
    let phase: Int

    private static let most = 5
    /// The share of the phase's wall time below which an initialiser explains nothing.
    private static let leastShare = 0.02

    /// One table, or none.
    func tables() -> [String] {
        let figures = profile.phases[phase]
        var selection = options.selection
        selection.phases = [phase]
        let all = InitializerTable.heaviestFirst(profile, selection).filter {
            figures.start <= $0.start
        }
        let least = Double(figures.wall.nanoseconds) * Self.leastShare
        let heavy = all.prefix(Self.most).filter { Double($0.wall.nanoseconds) >= least }
        guard !heavy.isEmpty else { return [] }
        var table = InitializerTable(profile: profile, options: options, runs: Array(heavy))
        table.caption =
            "\(figures.name.escapedForDisplay): heaviest of "
            + Numbers.count(all.count, "initialiser") + " (timed, not sampled)"
        return [table.table().render(width: options.columns, colour: options.usesColour)]
    }
}
