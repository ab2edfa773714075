import ProfileModel

/// The scheduler's own account of a process, as far as it can be had: who had a core when, and
/// with the privilege to see the whole machine also who woke whom.
struct Schedule {
    // One of them is there.
    private var machine: MachineSchedule?
    private var switches: ThreadSwitches?

    /// nil where the kernel tells nothing.
    ///
    /// - Parameters:
    ///   - threads: those that the process has already.
    ///   - followsChildren: whether it is to tell of the processes that this one starts, too, if it
    ///     sees the whole machine.
    init?(pid: Int32, threads: [Int32], followsChildren: Bool = false) {
        if let points = try? SchedulerTracepoints() {
            machine = try? MachineSchedule(
                points, pid: pid, threads: threads, followsChildren: followsChildren)
        }
        guard machine == nil else { return }
        guard beginSwitches(of: pid, threads: threads) else { return nil }
    }

    /// Of a process that is recorded beside another whose account does not tell of it. A view of the
    /// whole machine for each would cost too much.
    init?(ofChild pid: Int32, threads: [Int32]) {
        guard beginSwitches(of: pid, threads: threads) else { return nil }
    }

    private mutating func beginSwitches(of pid: Int32, threads: [Int32]) -> Bool {
        switches = try? ThreadSwitches(first: pid)
        for tid in threads { follow(tid) }
        return switches != nil
    }

    var account: SchedulerAccount { machine == nil ? .switches : .wakeups }

    /// Whether it tells of other processes' threads, too.
    var seesMachine: Bool { machine != nil }

    /// Threads that it could not follow.
    var unfollowed: Int64 { switches?.refused ?? 0 }

    /// A thread was found.
    mutating func follow(_ tid: Int32) {
        machine?.follow(tid)
        switches?.follow(tid)
    }

    /// What happened since the last call, or a little earlier; all of it at the end.
    mutating func read(isLast: Bool = false) -> [SchedulerRecord] {
        machine?.read(isLast: isLast) ?? switches?.read() ?? []
    }
}
