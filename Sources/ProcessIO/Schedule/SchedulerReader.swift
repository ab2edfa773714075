package import ProfileModel

/// Reads the scheduler's own account of a process while it runs, as far as available: which thread
/// had a core when. With the privilege to see the whole machine, also which thread woke which.
package struct SchedulerReader {
    // Exactly one of them is set.
    private var machine: MachineSchedule?
    private var switches: ThreadSwitches?

    /// nil if the kernel reports nothing.
    ///
    /// - Parameters:
    ///   - threads: the threads that the process has already.
    ///   - followsChildren: true to report also on the processes that this one starts, if it sees
    ///     the whole machine.
    package init?(pid: Int32, threads: [Int32], followsChildren: Bool = false) {
        if let points = try? SchedulerTracepoints() {
            machine = try? MachineSchedule(
                points, pid: pid, threads: threads, followsChildren: followsChildren)
        }
        guard machine == nil else { return }
        guard beginSwitches(of: pid, threads: threads) else { return nil }
    }

    /// For a process that is recorded together with another process whose account does not cover
    /// it. A view of the whole machine for each would cost too much.
    package init?(ofChild pid: Int32, threads: [Int32]) {
        guard beginSwitches(of: pid, threads: threads) else { return nil }
    }

    private mutating func beginSwitches(of pid: Int32, threads: [Int32]) -> Bool {
        switches = try? ThreadSwitches(first: pid)
        for tid in threads { follow(tid) }
        return switches != nil
    }

    package var account: SchedulerAccount { machine == nil ? .switches : .wakeups }

    /// True if it reports on other processes' threads, too.
    package var seesMachine: Bool { machine != nil }

    /// How many threads it could not follow.
    package var unfollowed: Int64 { switches?.refused ?? 0 }

    /// A new thread was found.
    package mutating func follow(_ tid: Int32) {
        machine?.follow(tid)
        switches?.follow(tid)
    }

    /// The records since the last call, or since a little before it; all of them at the end.
    package mutating func read(isLast: Bool = false) -> [SchedulerRecord] {
        machine?.read(isLast: isLast) ?? switches?.read() ?? []
    }
}
