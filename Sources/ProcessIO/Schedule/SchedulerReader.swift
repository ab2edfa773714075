import CSystem
import Glibc
package import ProfileModel
import System

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

    package var reading: ScheduleReading {
        machine?.reading ?? switches?.reading
            ?? ScheduleReading(time: MonotonicTime(nanoseconds: 0))
    }

    /// Whether the process may have threads that it did not have at the last call.
    package mutating func takeNewThreads() -> Bool {
        defer {
            machine?.mayHaveNewThreads = false
            switches?.mayHaveNewThreads = false
        }
        return machine?.mayHaveNewThreads ?? switches?.mayHaveNewThreads ?? true
    }

    /// The records since the last call, or since a little before it; all of them at the end.
    package mutating func read(isLast: Bool = false) -> [SchedulerRecord] {
        machine?.read(isLast: isLast) ?? switches?.read() ?? []
    }
}

/// What the last reading of the scheduler's events says of those that are not reported yet.
package struct ScheduleReading {
    /// When the events were read. Of a thread that does not stir, everything up to then has been
    /// reported.
    package var time: MonotonicTime
    /// The threads of the process with events that were read and are not reported yet.
    package var stirring: Set<Int32> = []
}

/// Reports when each thread has a core. Any user who may observe the threads may use it: it needs
/// no privilege, and other processes' threads are not seen. Each thread has a ring of its own. An
/// event that new threads inherit would save looking for them, but cost 12 µs per core for each new
/// thread.
package struct ThreadSwitches {
    private var rings: [Int32: PerfRing] = [:]
    /// The time of each thread's last record; later records may be lost.
    private var latest: [Int32: MonotonicTime] = [:]
    /// Threads that could not be followed.
    package private(set) var refused: Int64 = 0
    private var started: [SchedulerRecord] = []
    /// As in ``SchedulerReader``.
    private(set) var reading = ScheduleReading(time: .now)
    var mayHaveNewThreads = false

    /// Room for 256 switches between two looks. The memory that the kernel grants a user is enough
    /// for 43 threads per core.
    private static let pages = 2

    /// - Parameter first: a thread that must exist: it shows whether the kernel allows this.
    package init(first: Int32) throws(SystemError) {
        do throws(SystemError) {
            try open(first)
        } catch {
            // Then all threads count as refused, unless descriptors become free.
            guard error.code == EMFILE else { throw error }
        }
    }

    package mutating func follow(_ tid: Int32) {
        guard rings[tid] == nil else { return }
        do throws(SystemError) {
            try open(tid)
        } catch {
            refused += 1
        }
    }

    private mutating func open(_ tid: Int32) throws(SystemError) {
        rings[tid] = try PerfRing(descriptor: fl_open_switches(tid, -1), pages: Self.pages)
        latest[tid] = .now
        started.append(SchedulerRecord(.now, tid, .watched))
    }

    /// The records since the last call, in order for each thread.
    package mutating func read() -> [SchedulerRecord] {
        var result = started
        started.removeAll(keepingCapacity: true)
        var ended: [Int32] = []
        reading.time = .now
        var hasFork = false
        for (tid, ring) in rings {
            ring.forEach { record in
                guard let time = record.time else { return }
                let isLoss = record.kind == .lost
                if isLoss || record.kind == .fork { hasFork = true }
                guard let kind = isLoss ? .lost(since: latest[tid] ?? time) : record.switching
                else { return }
                latest[tid] = time
                result.append(SchedulerRecord(time, record.tid ?? tid, kind))
                if kind == .ended { ended.append(tid) }
            }
        }
        for tid in ended { (rings[tid], latest[tid]) = (nil, nil) }
        if hasFork { mayHaveNewThreads = true }
        return result
    }
}
