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
    ///   - isChild: it is recorded beside another; a view of the whole machine for each would cost
    ///     too much.
    init?(pid: Int32, threads: [Int32], isChild: Bool = false) {
        if !isChild, let points = try? SchedulerTracepoints() {
            machine = try? MachineSchedule(points, pid: pid, threads: threads)
        }
        guard machine == nil else { return }
        switches = try? ThreadSwitches(first: pid)
        if switches == nil { return nil }
        for tid in threads { follow(tid) }
    }

    var account: SchedulerAccount { machine == nil ? .switches : .wakeups }

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
