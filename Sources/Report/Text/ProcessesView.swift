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
        guard profile.processes.count > 1 else { return "" }
        let all = ProcessTree(profile).grouped(profile)
        let kept = Set(
            all.indices.sorted { (weight(all[$1]), $0) < (weight(all[$0]), $1) }
                .prefix(most))
        let rows = ProcessTree.nested(all.indices.filter(kept.contains).map { all[$0] }, profile)
        let table = ProcessTable(profile: profile, options: options, rows: rows).render()
        let left = all.indices.filter { !kept.contains($0) }.flatMap { all[$0].processes }
        guard !left.isEmpty else { return table }
        let cpu = left.reduce(TimeSpan.zero) { $0 + profile.processes[$1].cpu }
        let rest = "and \(Numbers.grouped(left.count)) more, together \(Numbers.time(cpu)) of CPU: "
        return table + (rest + "--view processes").wrapped(to: options.columns)
    }

    /// The recorded process comes first.
    private func weight(_ row: ProcessTree.Row) -> TimeSpan {
        row.process == 0
            ? TimeSpan(nanoseconds: .max)
            : row.processes.reduce(.zero) { $0 + profile.processes[$1].cpu }
    }
}

/// Processes as a tree: each one's children below it, in the order of their starts.
struct ProcessTree {
    struct Row {
        /// The index in the profile's list.
        var process: Int
        var depth: Int
        /// Processes like it that share its row.
        var others: [Int] = []

        var processes: [Int] { [process] + others }
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

    /// If one process starts at least this many processes with the same name, they share a row.
    private static let leastAlike = 3

    /// The rows, with processes merged if they have the same name and parent and started no
    /// processes themselves.
    func grouped(_ profile: Profile) -> [Row] {
        struct Kind: Hashable {
            let parent: Int?
            let label: String
        }
        let parents = Set(profile.processes.compactMap(\.parent))
        func kind(_ row: Row) -> Kind? {
            let process = profile.processes[row.process]
            guard row.process > 0, !parents.contains(row.process) else { return nil }
            return Kind(parent: process.parent, label: process.label)
        }
        var alike = Dictionary(grouping: rows.indices) { kind(rows[$0]) }
        alike[nil] = nil
        var result = rows
        var isMerged = [Bool](repeating: false, count: rows.count)
        for group in alike.values where group.count >= Self.leastAlike {
            result[group[0]].others = group.dropFirst().map { rows[$0].process }
            for index in group.dropFirst() { isMerged[index] = true }
        }
        return result.indices.filter { !isMerged[$0] }.map { result[$0] }
    }

    /// A part of the rows. The depth of each counts only ancestors within that part.
    static func nested(_ rows: [Row], _ profile: Profile) -> [Row] {
        var depths: [Int: Int] = [:]
        return rows.map { row in
            var ancestor = profile.processes[row.process].parent
            // A parent comes before its children in the profile's list.
            while let process = ancestor, depths[process] == nil {
                ancestor = profile.processes[process].parent.flatMap { $0 < process ? $0 : nil }
            }
            var row = row
            row.depth = ancestor.flatMap { depths[$0] }.map { $0 + 1 } ?? 0
            depths[row.process] = row.depth
            return row
        }
    }
}

/// A line for each process: when it ran, its cost, and the longest wait of its first thread.
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
            .init(title: "LONGEST WAIT", alignment: .left, minimum: 10, spareRank: 2),
        ])
        table.rows = rows.map(row)
        return table.render(width: options.columns, colour: options.usesColour)
    }

    /// Figures of several processes are added up.
    private func row(_ row: ProcessTree.Row) -> [TextTable.Cell] {
        let processes = row.processes.map { profile.processes[$0] }
        let process = profile.processes[row.process]
        let indent = String(repeating: "  ", count: min(row.depth, Self.deepest))
        let label = process.label.escapedForDisplay
        let isOne = row.others.isEmpty
        let walls = processes.compactMap(\.wall)
        let isKnown = walls.count == processes.count
        return [
            indent + (isOne ? label : "\(Numbers.grouped(processes.count)) times \(label)"),
            isOne ? "\(process.pid)" : "", Numbers.time(process.start),
            isKnown ? Numbers.cell(walls.reduce(.zero) { $0 + $1 }) : "unknown",
            Numbers.cell(processes.reduce(.zero) { $0 + $1.cpu }), ending(of: processes),
            wait(of: processes),
        ].map { TextTable.Cell($0) }
    }

    private func ending(of processes: [ProcessFigures]) -> String {
        let endings = Set(processes.map(\.ending))
        return endings.count == 1 ? endings.first ?? "" : "various"
    }

    private func wait(of processes: [ProcessFigures]) -> String {
        processes.compactMap(\.longestWait).max { $0.duration < $1.duration }.map {
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
