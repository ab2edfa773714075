import ProfileModel

/// Walks back through a launch from its end, always on the thread that the launch depended on at
/// that time, by its work or its wait.
struct BackwardWalk {
    private let profile: Profile
    private let parts: ThreadParts
    /// For each process, the first threads of its children.
    private let children: [Int: [Int]]
    private var thread: Int
    private var time: TimeSpan
    /// The threads whose waits are being explained, and the times at which each began to wait.
    /// There the walk returns to the thread.
    private var waiting: [(thread: Int, since: TimeSpan)] = []

    init(_ profile: Profile, from thread: Int, at end: TimeSpan) {
        self.profile = profile
        parts = ThreadParts(profile)
        children = Dictionary(
            grouping: profile.processes.compactMap { process in
                process.parent.flatMap { parent in profile.leader(of: process).map { (parent, $0) }
                }
            }, by: \.0
        ).mapValues { $0.map(\.1) }
        self.thread = thread
        time = max(.zero, end)
    }

    /// In the order of time.
    mutating func segments() -> [CriticalPath.Segment] {
        var result: [CriticalPath.Segment] = []
        while time > .zero {
            if let last = waiting.last, time <= last.since {
                thread = last.thread
                waiting.removeLast()
                continue
            }
            let floor = waiting.last?.since ?? .zero
            let stretch = parts.stretch(of: thread, before: time)
            let start = max(stretch.start, floor)
            if stretch.state == .blocked, stretch.end == time, let waker = follow(stretch) {
                waiting.append((thread, start))
                thread = waker
                continue
            }
            result.append(segment(stretch.state, from: start))
            time = start
            goToCreator()
        }
        return result.reversed()
    }

    private func segment(_ state: ThreadState?, from start: TimeSpan) -> CriticalPath.Segment {
        let duration = time - start
        var times = StateTimes.zero
        if let state { times[state] = duration }
        return CriticalPath.Segment(
            thread: thread, start: start, duration: duration, state: state, times: times,
            depth: waiting.count, wakeup: profile.wakeup(of: thread, at: start))
    }

    /// The thread that ended a wait of the current thread, if it did so itself (not an interrupt on
    /// its core), and is known to have had a core then.
    private func follow(_ wait: ThreadParts.Stretch) -> Int? {
        if let successor = successor(of: thread, at: time) { return successor }
        if let child = endedChild(during: wait) { return child }
        guard let wakeup = profile.wakeup(of: thread, at: time), !wakeup.isInterrupt,
            let waker = wakeup.wakerThread?.rawValue, waker != thread,
            profile.threads.indices.contains(waker)
        else { return nil }
        let stretch = parts.stretch(of: waker, before: time)
        return stretch.state == .running ? waker : nil
    }

    /// The first thread of the process whose end the current thread waited for. The thread that
    /// ended the wait does not show that. A traced process's tracer reports its end; other
    /// processes' ends are found when no more events of them arrive.
    private func endedChild(during stretch: ThreadParts.Stretch) -> Int? {
        guard profile.processes.count > 1,
            let wait = parts.wait(of: thread, during: stretch), wait.reason.kind == .child
        else { return nil }
        let time = stretch.end
        let known = children[profile.process(ofThread: thread)]?.filter { child in
            let figures = profile.threads[child]
            guard let owner = wait.reason.owner else {
                return figures.end <= time + profile.header.tolerance && wait.start <= figures.end
            }
            // The child may live on: another child's end interrupts such a wait, which then
            // continues.
            return owner == figures.tid && figures.start < time && wait.start <= figures.end
        }
        // A process that is not traced reports its end itself.
        if let teller = profile.wakeup(of: thread, at: time)?.wakerThread?.rawValue,
            known?.contains(teller) == true
        {
            return teller
        }
        // Of several that ended at about that time, the one whose end is nearest to the wait's.
        func distance(_ child: Int) -> UInt64 { (profile.threads[child].end - time).magnitude }
        return known?.min { distance($0) < distance($1) }
    }

    /// The main thread, while the current thread is the first one and only waits for it. That is
    /// known even without a report of the thread that ended the wait.
    private func successor(of thread: Int, at time: TimeSpan) -> Int? {
        guard let successor = profile.mainThread.successor, successor.thread != thread,
            profile.mainThread.threads.contains(thread), successor.range.lowerBound < time,
            time <= successor.range.upperBound + profile.header.tolerance
        else { return nil }
        return successor.thread
    }

    /// Before a thread existed, the walk continues on the thread that created it.
    private mutating func goToCreator() {
        guard parts.isBeginning(of: thread, at: time) else { return }
        let known = profile.wakeup(of: thread, at: time)?.wakerThread?.rawValue
        guard let maker = known ?? leaderOfParent, maker != thread,
            profile.threads.indices.contains(maker)
        else { return }
        thread = maker
    }

    /// For a child's first thread: the first thread of the parent process, as the creator is not
    /// known.
    private var leaderOfParent: Int? {
        let process = profile.processes[profile.process(ofThread: thread)]
        guard profile.leader(of: process) == thread, let parent = process.parent else {
            return nil
        }
        return profile.leader(of: profile.processes[parent])
    }
}

extension Profile {
    func wakeup(of thread: Int, at time: TimeSpan) -> Wakeup? {
        schedule.wakeup(of: thread, at: start + time)
    }
}
