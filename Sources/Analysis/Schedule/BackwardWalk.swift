import ProfileModel

/// Walks back through a launch from its end, always on the thread that held the launch up at that
/// time, by what it did or what it waited for.
struct BackwardWalk {
    private let profile: Profile
    private let parts: ThreadParts
    /// Of each process, the first threads of those that it started.
    private let children: [Int: [Int]]
    private var thread: Int
    private var time: TimeSpan
    /// The threads whose waits are being explained, and where each began to wait. There the walk
    /// returns to it.
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

    /// The thread that ended a wait of the current thread, if it did so by itself, and is known to
    /// have had a core then.
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
    /// ended the wait does not show that. The end of a traced process is reported by its tracer,
    /// and that of others when nobody reports anything of it any more.
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
            // It may live on: the end of another one interrupts such a wait, which then goes on.
            return owner == figures.tid && figures.start < time && wait.start <= figures.end
        }
        // Who is not traced tells of its end itself.
        if let teller = profile.wakeup(of: thread, at: time)?.wakerThread?.rawValue,
            known?.contains(teller) == true
        {
            return teller
        }
        // Of several that ended about then, the one that did so next to the wait's end.
        func distance(_ child: Int) -> UInt64 { (profile.threads[child].end - time).magnitude }
        return known?.min { distance($0) < distance($1) }
    }

    /// The main thread, while the current thread is the first one and only waits for it. That is
    /// known even if nobody reported who ended the wait.
    private func successor(of thread: Int, at time: TimeSpan) -> Int? {
        guard let successor = profile.mainThread.successor, successor.thread != thread,
            profile.mainThread.threads.contains(thread), successor.range.lowerBound < time,
            time <= successor.range.upperBound + profile.header.tolerance
        else { return nil }
        return successor.thread
    }

    /// Before it was made, a thread's way is that of its maker.
    private mutating func goToCreator() {
        guard parts.isBeginning(of: thread, at: time) else { return }
        let known = profile.wakeup(of: thread, at: time)?.wakerThread?.rawValue
        guard let maker = known ?? leaderOfParent, maker != thread,
            profile.threads.indices.contains(maker)
        else { return }
        thread = maker
    }

    /// Of a child's first thread: that of the process that started it, for want of better knowledge.
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
