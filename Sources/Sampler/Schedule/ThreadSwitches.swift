import CSystem
import ProfileModel
import System

/// When each thread has a core, told to whoever may observe it: no privilege, and nobody else's
/// threads. Each thread has a ring of its own. An event that threads hand down to those that they
/// start would save looking for them, but cost 12 µs a core for each that is started.
struct ThreadSwitches {
    private var rings: [Int32: PerfRing] = [:]
    /// The time of each thread's last record, since which others may be lost.
    private var latest: [Int32: MonotonicTime] = [:]
    /// Threads that could not be followed.
    private(set) var refused: Int64 = 0
    private var started: [SchedulerRecord] = []

    /// Room for 256 switches between two looks; what the kernel lets a user have is enough for 43
    /// threads a core.
    private static let pages = 2

    /// - Parameter first: a thread that must be there, so that it is known whether it works.
    init(first: Int32) throws(SystemError) {
        try open(first)
    }

    mutating func follow(_ tid: Int32) {
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

    /// The records since the last call, each thread's in order.
    mutating func read() -> [SchedulerRecord] {
        var result = started
        started.removeAll(keepingCapacity: true)
        var ended: [Int32] = []
        for (tid, ring) in rings {
            ring.read().forEach { record in
                guard let time = record.time else { return }
                let isLoss = record.kind == .lost
                guard let kind = isLoss ? .lost(since: latest[tid] ?? time) : record.switching
                else { return }
                latest[tid] = time
                result.append(SchedulerRecord(time, record.tid ?? tid, kind))
                if kind == .ended { ended.append(tid) }
            }
        }
        for tid in ended { (rings[tid], latest[tid]) = (nil, nil) }
        return result
    }
}
