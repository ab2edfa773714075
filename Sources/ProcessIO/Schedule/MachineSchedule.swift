import CSystem
import Glibc
package import ProfileModel
import System

/// The scheduler's events on every core. Reports only the threads of a process, and of the
/// processes that it starts if they are followed; and which thread woke them. It needs the
/// privilege to see the whole machine, and costs the program nothing when it starts threads.
///
/// Switches come as perf's own records, not from their tracepoint: on Linux 6.18, we have seen perf
/// stop reporting the tracepoint where a core had been idle.
package struct MachineSchedule {
    private let points: SchedulerTracepoints
    private let pid: Int32
    private let followsChildren: Bool
    private var rings: [PerfRing] = []
    /// The known threads of the processes.
    private var own: Set<Int32>
    /// Threads that their tracer is stopping, and that were not yet reported to leave their core.
    private var stopping: Set<Int32> = []
    /// The time of each ring's last record; later records may be lost.
    private var latest: [MonotonicTime] = []
    /// Events not reported yet: an older event of another core may still come.
    private var waiting: [Entry] = []
    /// When all cores were last read.
    private var lastRead = MonotonicTime.now
    /// Everything up to this time was reported; later events still wait, or are in the rings.
    private var told = MonotonicTime.now
    /// Whether the process may have new threads since the flag was last cleared. It is set before the
    /// records of these threads are reported.
    var mayHaveNewThreads = false
    private(set) var reading = ScheduleReading(time: .now)
    private var names = ThreadNames()
    /// Threads that are followed since the last call.
    private var watched: [SchedulerRecord] = []

    private struct Entry {
        var time: MonotonicTime
        var content: Content
    }

    private enum Content {
        case happened(Int32, SchedulerRecord.Kind)
        case forked(Int32, process: Int32, creator: Int32)
        case traced(SchedulerTracepoints.Event)

        /// The thread whose state it changes.
        var thread: Int32? {
            switch self {
            case .happened(let tid, _), .traced(.stopping(let tid)), .traced(.woken(let tid, _, _)):
                tid
            case .forked: nil
            }
        }
    }

    /// A quarter of a MiB: 2,700 switches on a core between two looks.
    private static let pages = 64

    /// - Parameter threads: the threads that the process has already.
    package init(
        _ points: SchedulerTracepoints, pid: Int32, threads: [Int32],
        followsChildren: Bool = false
    ) throws(SystemError) {
        self.points = points
        self.pid = pid
        self.followsChildren = followsChildren
        own = Set(threads).union([pid])
        let requests = points.requests(from: Self.leastThread(own, pid))
        for core in 0..<Int32(clamping: sysconf(Int32(_SC_NPROCESSORS_CONF))) {
            let switches = fl_open_switches(-1, core)
            // The core is switched off.
            if switches == -ENODEV { continue }
            let ring = try PerfRing(descriptor: switches, pages: Self.pages)
            for request in requests {
                try ring.add(fl_open_tracepoint(core, request.id), filter: request.filter)
            }
            rings.append(ring)
        }
        guard !rings.isEmpty else {
            throw SystemError("opening scheduler events", code: ENODEV)
        }
        let now = MonotonicTime.now
        latest = rings.map { _ in now }
        watched = own.sorted().map { SchedulerRecord(now, $0, .watched) }
    }

    /// The lowest id of the threads whose wake-ups we ask for. Wake-ups of other threads do not
    /// even reach us. Ids are given out in order; near their end they start again.
    private static func leastThread(_ own: Set<Int32>, _ pid: Int32) -> Int32 {
        var buffer = ReadBuffer()
        buffer.readAll(path: "/proc/sys/kernel/pid_max")
        var text = buffer.text
        guard let limit = text.decimal(), Int64(pid) < limit - limit / 8 else { return 1 }
        return own.min() ?? 1
    }

    /// Follows a thread that was found in another way. Reports that it started, or that it left its
    /// core since, may still come. So it is followed from the last reported time on, not from now.
    package mutating func follow(_ tid: Int32) {
        if own.insert(tid).inserted { watched.append(SchedulerRecord(told, tid, .watched)) }
    }

    /// The events up to the last call, in order; all events if `isLast`.
    package mutating func read(isLast: Bool) -> [SchedulerRecord] {
        let now = MonotonicTime.now
        for index in rings.indices { takeRecords(of: index) }
        waiting.sort { $0.time < $1.time }
        let ready =
            isLast ? waiting.count : waiting.firstIndex { $0.time >= lastRead } ?? waiting.count
        told = lastRead
        lastRead = now
        var result = watched
        watched.removeAll(keepingCapacity: true)
        for entry in waiting[..<ready] { tell(entry, &result) }
        waiting.removeFirst(ready)
        reading.time = now
        reading.stirring.removeAll(keepingCapacity: true)
        for entry in waiting {
            if let tid = entry.content.thread, own.contains(tid) { reading.stirring.insert(tid) }
        }
        return result
    }

    private mutating func takeRecords(of index: Int) {
        rings[index].forEach { record in
            guard let time = record.time, let content = content(record, after: latest[index])
            else { return }
            latest[index] = max(latest[index], time)
            waiting.append(Entry(time: time, content: content))
        }
    }

    private mutating func content(
        _ record: PerfRecords.Record, after last: MonotonicTime
    ) -> Content? {
        switch record.kind {
        case .sample: return points.event(record).map { .traced($0) }
        case .lost:
            mayHaveNewThreads = true
            return .happened(0, .lost(since: last))
        case .name, .count, .mapping: return nil
        case .fork:
            guard let child = record.child, let creator = record.tid,
                followsChildren || child.pid == pid
            else { return nil }
            if child.pid == pid { mayHaveNewThreads = true }
            return .forked(child.tid, process: child.pid, creator: creator)
        case .exit, .switch, .machineSwitch:
            guard let tid = record.tid, tid != 0, let kind = record.switching else { return nil }
            return .happened(tid, kind)
        }
    }

    /// Only here do we know to which process the threads belong.
    private mutating func tell(_ entry: Entry, _ result: inout [SchedulerRecord]) {
        let event: (tid: Int32, kind: SchedulerRecord.Kind)
        switch entry.content {
        case .traced(.stopping(let tid)):
            stopping.insert(tid)
            return
        case .traced(.woken(let tid, let waker, let isInterrupt)):
            let isKnown = isInterrupt || waker == 0 || own.contains(waker) || !own.contains(tid)
            let name = isKnown ? "" : names.name(of: waker)
            event = (
                tid,
                .woken(SchedulerRecord.Waker(tid: waker, name: name, isInterrupt: isInterrupt))
            )
        case .forked(let tid, let process, let creator):
            guard process == pid || own.contains(creator) else { return }
            own.insert(tid)
            event = (tid, .began(creator: creator))
        case .happened(let tid, .left(_, let core)) where stopping.remove(tid) != nil:
            event = (tid, .left(.pushed, core: core))
        case .happened(let tid, let kind): event = (tid, kind)
        }
        guard own.contains(event.tid) || event.tid == 0 else { return }
        result.append(SchedulerRecord(entry.time, event.tid, event.kind))
        if event.kind == .ended { own.remove(event.tid) }
    }
}
