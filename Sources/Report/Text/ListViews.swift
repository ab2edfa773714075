import Analysis
import Exports
import ProfileModel

/// The threads, in the order of their start.
struct ThreadsView {
    let profile: Profile
    let options: TextOptions

    func render() -> String {
        var columns = [
            TextTable.Column(title: "TID"),
            .init(title: "THREAD", alignment: .left, minimum: 8),
            .init(title: "START", spareRank: 2), .init(title: "END", spareRank: 1),
            .init(title: "WALL", spareRank: 0), .init(title: "running", style: .running),
            .init(title: "runnable", style: .runnable),
            .init(title: "preempted", style: .preempted), .init(title: "blocked", style: .blocked),
            .init(title: "PRIORITY", alignment: .left, minimum: 8, spareRank: 3),
        ]
        let times = profile.timesByThread(in: options.selection)
        let isKnown = profile.threads.contains { !$0.priorities.isEmpty }
        if !isKnown { columns.removeLast() }
        if hasProcesses {
            columns.insert(.init(title: "PROCESS", alignment: .left, minimum: 8), at: 1)
        }
        var table = TextTable(columns: columns)
        table.rows = order.map { row($0, times[$0]) }
        return table.render(width: options.columns, colour: options.usesColour)
    }

    private var hasProcesses: Bool { profile.processes.count > 1 }

    private var order: [Int] {
        profile.threads.indices.filter { options.selection.threads?.contains($0) ?? true }
            .sorted { (profile.threads[$0].start, $0) < (profile.threads[$1].start, $1) }
    }

    private func row(_ index: Int, _ times: StateTimes) -> [TextTable.Cell] {
        let thread = profile.threads[index]
        var name = TextTable.Cell(thread.name.escapedForDisplay)
        let role = index == profile.mainThread.usual ? "main" : thread.isMain ? "first" : nil
        if let role { name.suffix = name.text.isEmpty ? role : " (\(role))" }
        let process = profile.processes[profile.process(ofThread: index)].label
        return [TextTable.Cell("\(thread.tid)")]
            + (hasProcesses ? [TextTable.Cell(process.escapedForDisplay)] : []) + [name]
            + [thread.start, thread.end].map { TextTable.Cell(Numbers.time($0)) }
            + [times.wall, times.running, times.runnable, times.preempted, times.blocked].map {
                TextTable.Cell(Numbers.cell($0))
            } + [TextTable.Cell(priority(of: thread))]
    }

    /// `normal → nice 10`: the first priority, and the last.
    private func priority(of thread: ThreadFigures) -> String {
        let all = thread.priorities.map(\.words)
        guard let first = all.first, let last = all.last else { return "–" }
        return all.count == 1 ? last : "\(first) → " + (all.count > 2 ? "… → " : "") + last
    }
}

extension PriorityFigures {
    /// `normal`, `nice 5`, `fifo 50`, `idle`.
    var words: String {
        let policy = policyName ?? "policy \(policy)"
        if isRealTime { return "\(policy) \(realTime)" }
        guard hasNice, nice != 0 else { return self.policy == 0 ? "normal" : policy }
        return self.policy == 0 ? "nice \(nice)" : "\(policy), nice \(nice)"
    }
}
