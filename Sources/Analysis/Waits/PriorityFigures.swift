package import ProfileModel

/// How a thread competes for a core, from a moment on.
package struct PriorityFigures: Hashable, Sendable {
    /// In the profile's list.
    package var thread: Int
    /// Since the launch's start, and within the launch.
    package var time: TimeSpan
    /// See ``Priority``.
    package var policy: Int32
    package var nice: Int32
    package var realTime: Int32

    /// The name of the policy as sched(7) has it, without its prefix; nil for one that is not
    /// known.
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

extension Profile {
    /// All threads', in the order of their times: what they were at first, and every change.
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
