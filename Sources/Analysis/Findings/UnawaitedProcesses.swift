import ProfileModel

/// A process that the launch waited for had to wait for a core while processes that no other
/// process waited for had that core.
struct UnawaitedProcesses: FindingRule {
    func findings(in search: inout FindingSearch) -> [Finding] {
        let profile = search.profile
        guard profile.processes.count > 1, let queue = CoreQueue(search) else { return [] }
        var found: [Finding] = []
        for process in profile.processes.indices
        where !queue.awaited.contains(process) && !profile.isLast(process, behind: queue.awaited) {
            let windows = search.unclaimed(queue.time(of: process, in: profile))
            guard windows.length >= search.least else { continue }
            guard
                let finding = search.finding(.unawaitedProcess(process), of: process, in: windows)
            else { continue }
            search.claim(windows)
            found.append(finding)
        }
        return found
    }
}

/// The times in which the launch waited for a core, by core.
private struct CoreQueue {
    /// Processes that the launch waited for at some time, or that one of these waited for (the
    /// members of a pipeline), by their positions in the profile's list.
    let awaited: Set<Int>
    /// For each core, in the order of time.
    private let waits: [Int32: TimeWindows]

    /// nil: the launch waited for no core, or the core is not known.
    init?(_ search: FindingSearch) {
        let profile = search.profile
        guard let main = profile.threads.firstIndex(where: \.isMain) else { return nil }
        var walk = BackwardWalk(profile, from: main, at: search.end)
        var awaited: Set<Int> = []
        var waits: [Int32: [Range<TimeSpan>]] = [:]
        for segment in walk.segments() {
            awaited.insert(profile.process(ofThread: segment.thread))
            guard segment.state == .preempted || segment.state == .runnable,
                let core = profile.core(of: segment.thread, from: segment.end)
            else { continue }
            waits[core, default: []].append(segment.start..<segment.end)
        }
        guard !waits.isEmpty else { return nil }
        self.awaited = profile.withAllAwaited(by: awaited)
        self.waits = waits.mapValues { TimeWindows($0) }
    }

    /// The times in which a process ran on the core that was waited for.
    func time(of process: Int, in profile: Profile) -> TimeWindows {
        var result: [Range<TimeSpan>] = []
        for thread in profile.processes[process].threads {
            for run in profile.schedule.threads[thread] where run.state == .running {
                guard let windows = run.core.flatMap({ waits[$0] }) else { continue }
                let (start, end) = (run.start - profile.start, run.end - profile.start)
                for range in windows.ranges[windows.first(endingAfter: start)...] {
                    guard range.lowerBound < end else { break }
                    result.append(max(range.lowerBound, start)..<min(range.upperBound, end))
                }
            }
        }
        return TimeWindows(result)
    }
}

extension Profile {
    /// Whether a process reads the output of an awaited process, and ended with the launch: then
    /// the launch may have lacked only its end, although no thread had to wait for long.
    fileprivate func isLast(_ process: Int, behind awaited: Set<Int>) -> Bool {
        guard let end = processes[process].end, end <= launch.wall,
            (launch.wall - end).nanoseconds <= launch.wall.nanoseconds / 20
        else { return false }
        let writers = Set(awaited.flatMap { processes[$0].threads }.map { threads[$0].tid })
        return waits.contains { wait in
            wait.reason.kind == .pipe && self.process(ofThread: wait.thread) == process
                && wait.endedBy.map { writers.contains($0.tid) } == true
        }
    }

    /// These processes, all that ended a wait of one of them, and so on. A child's end that ends
    /// its parent's wait counts only if the parent waited for this child: it may have waited for
    /// another one.
    fileprivate func withAllAwaited(by processes: Set<Int>) -> Set<Int> {
        var wakers: [Int: Set<Int>] = [:]
        let threadsByID = Dictionary(grouping: threads.indices) { [threads] in threads[$0].tid }
        for wait in waits where wait.reason.kind != .sleep {
            guard let waker = wait.endedBy,
                wait.reason.kind != .child || wait.reason.owner == waker.tid,
                let thread = threadsByID[waker.tid]?.last(where: { threads[$0].start <= wait.end })
            else { continue }
            wakers[process(ofThread: wait.thread), default: []].insert(process(ofThread: thread))
        }
        var (result, pending) = (processes, Array(processes))
        while let next = pending.popLast() {
            for waker in wakers[next] ?? [] where result.insert(waker).inserted {
                pending.append(waker)
            }
        }
        return result
    }

    /// The core on which a thread ran from a moment on; nil: not known.
    fileprivate func core(of thread: Int, from time: TimeSpan) -> Int32? {
        let runs = schedule.threads[thread]
        let moment = start + time
        let index = runs.partitionIndex { $0.end > moment }
        guard index < runs.count, runs[index].start <= moment, runs[index].state == .running else {
            return nil
        }
        return runs[index].core
    }
}
