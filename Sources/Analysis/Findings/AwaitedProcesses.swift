import ProfileModel

/// The tree of a launch's processes, and when the main thread waited for which of them.
struct AwaitedProcesses {
    private let processes: [ProcessFigures]
    private let end: TimeSpan
    /// Of each process, in the order of their starts.
    let children: [[Int]]
    /// How many each has started, and they, and so on.
    let descendants: [Int]
    /// For each process, the child of the first one that it is, or that its ancestors lead to.
    private let branches: [Int]
    /// When the main thread waited for a child of that id; nil: for any.
    private let waits: [Int32?: TimeWindows]

    init(_ search: FindingSearch) {
        let profile = search.profile
        processes = profile.processes
        end = search.end
        var children = [[Int]](repeating: [], count: processes.count)
        var descendants = [Int](repeating: 0, count: processes.count)
        // Parents stand before their children; a file may say otherwise.
        for index in processes.indices.reversed() {
            guard let parent = processes[index].parent, parent < index else { continue }
            children[parent].append(index)
            descendants[parent] += descendants[index] + 1
        }
        self.children = children.map { [processes] list in
            list.sorted { (processes[$0].start, $0) < (processes[$1].start, $1) }
        }
        self.descendants = descendants
        var branches: [Int] = []
        for index in processes.indices {
            let parent = processes[index].parent ?? 0
            branches.append(parent > 0 && parent < index ? branches[parent] : index)
        }
        self.branches = branches
        var waits: [Int32?: [Range<TimeSpan>]] = [:]
        for wait in profile.waits where wait.reason.kind == .child {
            guard profile.threads[wait.thread].child == nil,
                profile.mainThread.isMain(wait.thread, at: wait.start)
            else { continue }
            waits[wait.reason.owner, default: []].append(
                search.window(from: wait.start, to: wait.end))
        }
        self.waits = waits.mapValues { TimeWindows($0) }
    }

    /// When the main thread waited for a process, or for one that had started it.
    func windows(of process: Int) -> TimeWindows {
        let life = TimeWindows([life(of: process)])
        let pid = processes[branches[process]].pid
        return TimeWindows(
            [waits[pid], waits[nil]].flatMap { $0?.common(with: life).ranges ?? [] })
    }

    /// From its fork to its end, as far as the launch goes.
    func life(of process: Int) -> Range<TimeSpan> {
        let start = min(max(processes[process].start, .zero), end)
        return start..<max(start, min(processes[process].end ?? end, end))
    }
}
