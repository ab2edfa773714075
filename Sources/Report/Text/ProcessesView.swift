import Analysis
import Architecture
import Exports
import ProfileModel

/// The processes of the launch, each below the one that started it.
struct ProcessesView {
    let profile: Profile
    let options: TextOptions

    func render() -> String {
        let rows = ProcessTree(profile).rows.filter { $0.depth < options.depth ?? .max }
        return ProcessTable(profile: profile, options: options, rows: rows).render()
    }
}

/// The processes in the summary: those with the most at stake.
struct ProcessSummary {
    let profile: Profile
    let options: TextOptions

    var most = 10

    /// Empty if there is only one process.
    func render() -> String {
        let all = ProcessTree(profile).rows
        guard all.count > 1 else { return "" }
        let kept = Set(
            all.indices.sorted { (weight(all[$1]), $0) < (weight(all[$0]), $1) }
                .prefix(most))
        let rows = all.indices.filter(kept.contains).map { all[$0] }
        let table = ProcessTable(profile: profile, options: options, rows: rows).render()
        guard rows.count < all.count else { return table }
        let left = all.indices.filter { !kept.contains($0) }
        let cpu = left.reduce(TimeSpan.zero) { $0 + profile.processes[all[$1].process].cpu }
        let rest = "and \(Numbers.grouped(left.count)) more, together \(Numbers.time(cpu)) of CPU: "
        return table + (rest + "--view processes").wrapped(to: options.columns)
    }

    /// The recorded process comes first.
    private func weight(_ row: ProcessTree.Row) -> TimeSpan {
        row.process == 0 ? TimeSpan(nanoseconds: .max) : profile.processes[row.process].cpu
    }
}

/// Processes as a tree: each one's children below it, in the order of their starts.
struct ProcessTree {
    struct Row {
        /// The index in the profile's list.
        var process: Int
        var depth: Int
    }

    private(set) var rows: [Row] = []

    init(_ profile: Profile) {
        var children: [Int: [Int]] = [:]
        var orphans: [Int] = []
        for (index, process) in profile.processes.enumerated().dropFirst() {
            if let parent = process.parent, parent < index {
                children[parent, default: []].append(index)
            } else {
                orphans.append(index)
            }
        }
        // No recursion: a chain of processes may have any length.
        var pending = ([0] + orphans).reversed().map { Row(process: $0, depth: 0) }
        while let row = pending.popLast() {
            rows.append(row)
            let next = (children[row.process] ?? []).sorted {
                (profile.processes[$0].start, $0) < (profile.processes[$1].start, $1)
            }
            pending += next.reversed().map { Row(process: $0, depth: row.depth + 1) }
        }
    }
}

/// A line for each process: when it ran, what it cost, and what its first thread waited for.
struct ProcessTable {
    let profile: Profile
    let options: TextOptions
    let rows: [ProcessTree.Row]

    /// Deeper processes are shown at this depth.
    private static let deepest = 12

    func render() -> String {
        var table = TextTable(columns: [
            .init(title: "PROCESS", alignment: .left, minimum: 12), .init(title: "PID"),
            .init(title: "START", spareRank: 3), .init(title: "WALL"), .init(title: "CPU"),
            .init(title: "ENDED", alignment: .left, spareRank: 1),
            .init(title: "WAITED FOR", alignment: .left, minimum: 10, spareRank: 2),
        ])
        table.rows = rows.map(row)
        return table.render(width: options.columns, colour: options.usesColour)
    }

    private func row(_ row: ProcessTree.Row) -> [TextTable.Cell] {
        let process = profile.processes[row.process]
        let indent = String(repeating: "  ", count: min(row.depth, Self.deepest))
        return [
            indent + process.label.escapedForDisplay, "\(process.pid)",
            Numbers.time(process.start), process.wall.map { Numbers.cell($0) } ?? "unknown",
            Numbers.cell(process.cpu), process.ending, wait(of: process),
        ].map { TextTable.Cell($0) }
    }

    private func wait(of process: ProcessFigures) -> String {
        if let file = process.file { return "see \(file.escapedForDisplay)" }
        return process.longestWait.map {
            "\(Numbers.time($0.duration)) \($0.reason.words.escapedForDisplay)"
        } ?? "–"
    }
}

extension ProcessFigures {
    /// "status 3", "SIGKILL (9)".
    var ending: String {
        switch outcome {
        case .exited(let status): "status \(status)"
        case .signalled(let signal): SignalNames.label(signal)
        case .running: "runs on"
        case .unknown: "unknown"
        }
    }
}
