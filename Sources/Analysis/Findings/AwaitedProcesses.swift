import ProfileModel

/// The tree of a launch's processes, and the times in which the main thread waited for each.
struct AwaitedProcesses {
    private let processes: [ProcessFigures]
    private let end: TimeSpan
    /// For each process, in the order of their starts.
    let children: [[Int]]
    /// For each process, how many processes it started, directly or through others.
    let descendants: [Int]
    /// CPU time of each process and its descendants.
    let cpu: [TimeSpan]
    /// For each process, the child of the first process that is this process or its ancestor.
    private let branches: [Int]
    /// The times in which the main thread waited for a child of that id; nil: for any child.
    private let waits: [Int32?: TimeWindows]
    /// The times in which it waited for anything but time: a thread of its own may wait for the
    /// child, or it may read a child's output. The key is the branch whose process released a
    /// semaphore; nil: other waits, or no known process did.
    private let otherWaits: [Int?: TimeWindows]
    /// The share of each process's life in which it or its descendants computed or were ready
    /// without a core; more than 1 where several did so at once.
    private let busyShares: [Double]

    init(_ search: FindingSearch) {
        let profile = search.profile
        processes = profile.processes
        end = search.end
        var children = [[Int]](repeating: [], count: processes.count)
        var descendants = [Int](repeating: 0, count: processes.count)
        var cpu = processes.map(\.cpu)
        var busy = processes.map { process in
            let times = process.threads.reduce(StateTimes.zero) { $0 + profile.threads[$1].times }
            return times.wall - times.blocked
        }
        // Parents come before their children; a damaged file may differ.
        for index in processes.indices.reversed() {
            guard let parent = processes[index].parent, parent < index else { continue }
            children[parent].append(index)
            descendants[parent] += descendants[index] + 1
            cpu[parent] = cpu[parent] + cpu[index]
            busy[parent] = busy[parent] + busy[index]
        }
        self.children = children.map { [processes] list in
            list.sorted { (processes[$0].start, $0) < (processes[$1].start, $1) }
        }
        self.descendants = descendants
        self.cpu = cpu
        var branches: [Int] = []
        for index in processes.indices {
            let parent = processes[index].parent ?? 0
            branches.append(parent > 0 && parent < index ? branches[parent] : index)
        }
        self.branches = branches
        var waits: [Int32?: [Range<TimeSpan>]] = [:]
        var otherWaits: [Int?: [Range<TimeSpan>]] = [:]
        let enders = WaitEnders(profile)
        for wait in profile.waits where wait.reason.kind != .sleep {
            guard profile.threads[wait.thread].child == nil,
                profile.mainThread.isMain(wait.thread, at: wait.start)
            else { continue }
            let window = search.window(from: wait.start, to: wait.end)
            if wait.reason.kind == .child {
                waits[wait.reason.owner, default: []].append(window)
            } else {
                // A process that writes to a pipe may only pass on the results of others in a
                // pipeline. A process that releases a semaphore has done the work.
                let isDirect = [.condition, .lock].contains(wait.reason.kind)
                let ender =
                    isDirect
                    ? enders.process(ending: wait).flatMap { $0 > 0 ? branches[$0] : nil } : nil
                otherWaits[ender, default: []].append(window)
            }
        }
        self.waits = waits.mapValues { TimeWindows($0) }
        self.otherWaits = otherWaits.mapValues { TimeWindows($0) }
        busyShares = zip(processes, busy).map { process, busy in
            let life = (process.end ?? search.end) - process.start
            return life > .zero ? Double(busy.nanoseconds) / Double(life.nanoseconds) : 0
        }
    }

    /// The times in which the main thread waited for a process, or for an ancestor of it.
    func windows(of process: Int) -> TimeWindows {
        let life = TimeWindows([life(of: process)])
        let pid = processes[branches[process]].pid
        return TimeWindows(
            [waits[pid], waits[nil]].flatMap { $0?.common(with: life).ranges ?? [] })
    }

    /// For a process that was busy for at least half of its life, also the times in which the main
    /// thread waited for anything else.
    func windows(orBusy process: Int) -> TimeWindows {
        let windows = windows(of: process)
        guard busyShares[process] >= 0.5 else { return windows }
        let life = TimeWindows([life(of: process)])
        return TimeWindows(
            windows.ranges
                + [otherWaits[branches[process]], otherWaits[nil]].flatMap {
                    $0?.common(with: life).ranges ?? []
                })
    }

    /// From its fork to its end, cut at the launch's end.
    func life(of process: Int) -> Range<TimeSpan> {
        let start = min(max(processes[process].start, .zero), end)
        return start..<max(start, min(processes[process].end ?? end, end))
    }
}

/// Finds the process whose thread ended a wait.
private struct WaitEnders {
    private let threads: [Int32: [Int]]
    private let profile: Profile
    private let processes: [Int?]

    init(_ profile: Profile) {
        self.profile = profile
        threads = Dictionary(grouping: profile.threads.indices) { profile.threads[$0].tid }
        var processes = [Int?](repeating: nil, count: profile.threads.count)
        for (index, process) in profile.processes.enumerated() {
            for thread in process.threads where processes.indices ~= thread {
                processes[thread] = index
            }
        }
        self.processes = processes
    }

    /// In the profile's list; nil: not known.
    func process(ending wait: WaitFigures) -> Int? {
        wait.endedBy.flatMap { waker in
            threads[waker.tid]?.last { profile.threads[$0].start <= wait.end }
        }.flatMap { processes[$0] }
    }
}
