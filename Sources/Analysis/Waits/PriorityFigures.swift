package import ProfileModel

/// A thread's priority in competing for a core, from a moment on.
package struct PriorityFigures: Hashable, Sendable {
    /// In the profile's list.
    package var thread: Int
    /// Since the launch's start, and within the launch.
    package var time: TimeSpan
    /// See ``Priority``.
    package var policy: Int32
    package var nice: Int32
    package var realTime: Int32

    /// The name of the policy as in sched(7), without its prefix; nil for an unknown policy.
    package var policyName: String? {
        switch policy {
        case 0: "other"
        case 1: "fifo"
        case 2: "rr"
        case 3: "batch"
        case 5: "idle"
        case 6: "deadline"
        case 7: "ext"
        default: nil
        }
    }

    /// Whether ``nice`` counts.
    package var hasNice: Bool { policy == 0 || policy == 3 }
    /// Whether ``realTime`` counts.
    package var isRealTime: Bool { policy == 1 || policy == 2 }

    /// In the order of their times.
    static func all(of recording: Recording, _ plan: PhasePlan) -> [PriorityFigures] {
        recording.priorities.filter { recording.threads.indices.contains($0.thread.rawValue) }
            .map { priority in
                PriorityFigures(
                    thread: priority.thread.rawValue,
                    time: plan.within(priority.time.clamped) - plan.start,
                    policy: priority.policy, nice: priority.nice, realTime: priority.realTime)
            }
            .enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
            .map(\.element)
    }
}

extension PriorityFigures {
    /// Whether the scheduler prefers the other thread: deadline before real time before all others,
    /// by nice value, before idle. Unknown policies are not compared.
    func isLower(than other: PriorityFigures) -> Bool {
        guard let own = urgency, let others = other.urgency else { return false }
        return own < others
    }

    private var urgency: (Int, Int32)? {
        switch policy {
        case 6: (3, 0)
        case 1, 2: (2, realTime)
        case 0, 3: (1, -nice)
        case 5: (0, 0)
        default: nil
        }
    }
}

/// A wait for a thread that had no core, because its priority is lower.
enum PriorityInversion {
    /// Shorter waits are the scheduler's usual switching.
    private static let leastLacked = Wait.shortest
    /// Every busy thread loses its core now and then. Below this share of the wait, the thread's
    /// own work made the wait long, and a higher priority would hardly shorten it.
    private static let leastShare = 0.1

    /// - Parameter lacked: the time in which the other thread was ready but had no core.
    static func isLonger(_ wait: TimeSpan, by lacked: TimeSpan) -> Bool {
        lacked >= leastLacked
            && Double(lacked.nanoseconds) >= leastShare * Double(wait.nanoseconds)
    }
}

extension ThreadFigures {
    /// nil: not known.
    func priority(at time: TimeSpan) -> PriorityFigures? {
        priorities.last { $0.time <= time }
    }
}

extension Profile {
    /// The priorities of all threads, in the order of their times: the first of each, and every
    /// change.
    package var priorities: [PriorityFigures] {
        threads.flatMap(\.priorities).enumerated()
            .sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
            .map(\.element)
    }
}

extension Profile {
    /// Whether there ever were threads of different priorities.
    var hasPriorities: Bool {
        var kinds: Set<[Int32]> = []
        for priority in threads.lazy.flatMap(\.priorities) {
            kinds.insert([priority.policy, priority.nice, priority.realTime])
            if kinds.count > 1 { return true }
        }
        return false
    }
}
