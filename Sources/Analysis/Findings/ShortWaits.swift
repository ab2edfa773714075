import ProfileModel

/// The main thread waits again and again, each time for less than a wait with a reason takes: for a
/// disk (`fsync`), for a child's output, for a page.
struct ShortWaits: FindingRule {
    /// The least share of the time in which the main thread ran or waited.
    private static let leastShare = 0.1
    /// On a busy machine, every launch waits for a few milliseconds.
    private static let leastTime = TimeSpan.milliseconds(10)
    /// The calls of event loops: these wait for any next event.
    private static let pollers = ["poll", "epoll_wait", "epoll_pwait", "select"]

    func findings(in search: inout FindingSearch) -> [Finding] {
        // An attached program waits all day, as part of its work. Where the scheduler's account has
        // gaps, the thread's states there are only guessed.
        guard !search.profile.header.isAttached,
            !search.profile.notes.contains(where: { $0.kind == .lostSwitches })
        else { return [] }
        let windows = search.rest.subtracting(Self.longWaits(in: search))
        let profile = search.profile
        let stack = profile.heaviestStack(search.mainThread(in: windows), weight: .blocked)
        let waited = stack.total.blocked
        let effort = search.effort(in: TimeWindows([.zero..<search.end]))
        // A thread that the recorder stops appears to wait, too.
        guard waited >= max(search.least, Self.leastTime, profile.header.heldByProfiler),
            Double(waited.nanoseconds) >= Self.leastShare * Double(effort.nanoseconds),
            !Self.polls(stack, profile), let place = profile.centre(of: stack),
            let last = stack.entries.lastIndex(where: { $0.frame == place }),
            let range = search.range(of: profile.frames[place].function, in: windows)
        else { return [] }
        return [
            Finding(
                subject: .shortWaits(in: Self.call(in: stack, behind: last, profile)),
                saving: waited,
                thread: search.mainThread(at: range.lowerBound), range: range, place: place,
                stack: stack.entries[...last].map(\.frame))
        ]
    }

    /// The innermost function with a name that has half of the waiting time.
    private static func call(
        in stack: HeaviestStack, behind place: Int, _ profile: Profile
    ) -> FrameID? {
        stack.entries[(place + 1)...].last { entry in
            let function = profile.frames.function(of: entry.frame)
            return !function.isKernel && !function.isUnnamed && !function.name.hasPrefix("[")
                && entry.total.blocked.nanoseconds >= stack.total.blocked.nanoseconds / 2
        }?.frame
    }

    /// Waits with a reason; and stretches without one in which the main thread only waited, or
    /// waited so long that all of it may have been one wait.
    private static func longWaits(in search: FindingSearch) -> TimeWindows {
        let profile = search.profile
        var long = profile.mainThread.threads.flatMap { thread in
            search.waits(of: thread).map { search.window(from: $0.start, to: $0.end) }
        }
        profile.forEachPart(in: Selection(isOfMainThread: true)) { part in
            let blocked = part.times.blocked
            guard
                blocked > Wait.shortest
                    || (blocked == Wait.shortest && blocked == part.times.wall)
            else { return }
            let told = profile.stretchesBlocked(
                of: Int(part.thread), in: part.start..<part.end)
            long +=
                told.map { $0.filter { $0.upperBound - $0.lowerBound >= Wait.shortest } }
                ?? [search.window(from: part.start, to: part.end)]
        }
        return TimeWindows(long)
    }

    /// Whether half of the waiting time is an event loop's.
    private static func polls(_ stack: HeaviestStack, _ profile: Profile) -> Bool {
        let half = stack.total.blocked.nanoseconds / 2
        return stack.entries.contains { entry in
            let name = profile.frames.function(of: entry.frame).name
            return entry.total.blocked.nanoseconds >= half
                && pollers.contains { name == $0 || name.hasSuffix("_" + $0) }
        }
    }
}
