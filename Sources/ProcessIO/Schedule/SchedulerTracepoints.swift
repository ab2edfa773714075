import CSystem
import Glibc
import ProfileModel

/// The two tracepoints that tell which thread woke which, and which thread was stopped by its
/// tracer; and how to read them.
package struct SchedulerTracepoints {
    private let switching: Switching
    private let waking: Waking

    private struct Switching {
        var id: UInt16
        var type: TracepointFormat.Field
        var leaving: TracepointFormat.Field
    }

    private struct Waking {
        var id: UInt16
        var flags: TracepointFormat.Field
        var waker: TracepointFormat.Field
        var woken: TracepointFormat.Field
    }

    /// The event that one sample of a tracepoint reports.
    package enum Event: Hashable {
        /// The thread leaves its core because its tracer stops it.
        case stopping(Int32)
        case woken(Int32, by: Int32, isInterrupt: Bool)
    }

    /// nil if a required field is missing.
    package init?(switching: TracepointFormat, waking: TracepointFormat) {
        guard let type = switching["common_type"], waking["common_type"] == type,
            let leaving = switching["prev_pid"], switching["prev_state"] != nil,
            let flags = waking["common_flags"], let waker = waking["common_pid"],
            let woken = waking["pid"]
        else { return nil }
        self.switching = Switching(id: switching.id, type: type, leaving: leaving)
        self.waking = Waking(id: waking.id, flags: flags, waker: waker, woken: woken)
    }

    /// The tracepoints to ask for, with filters, for threads from an id on. Of the switches, only
    /// those of threads in the state `__TASK_TRACED` (of the kernel's sched.h).
    package func requests(from tid: Int32) -> [(id: UInt64, filter: String)] {
        [
            (UInt64(switching.id), "prev_pid >= \(tid) && prev_state & 8"),
            (UInt64(waking.id), "pid >= \(tid)"),
        ]
    }

    /// nil if the record is from neither tracepoint, or incomplete.
    package func event(_ record: PerfRecords.Record) -> Event? {
        let type = record.raw(switching.type)
        if type == Int64(switching.id) {
            return record.thread(switching.leaving).map { .stopping($0) }
        }
        guard type == Int64(waking.id), let woken = record.thread(waking.woken),
            let waker = record.thread(waking.waker), let flags = record.raw(waking.flags)
        else { return nil }
        return .woken(woken, by: waker, isInterrupt: flags & Self.inInterrupt != 0)
    }

    /// `TRACE_FLAG_HARDIRQ`, `…_SOFTIRQ` and `…_NMI` of the kernel's trace_events.h.
    private static let inInterrupt: Int64 = 0x08 | 0x10 | 0x40
}

extension PerfRecords.Record {
    fileprivate func thread(_ field: TracepointFormat.Field) -> Int32? {
        raw(field).flatMap { Int32(exactly: $0) }
    }
}

extension SchedulerTracepoints {
    /// Why they cannot be read.
    package enum Obstacle: Error, Hashable {
        /// tracefs is not mounted, or we may not read it.
        case unreadable
        /// This kernel has another format.
        case unknownFormat
        /// The kernel uses other thread ids than we see.
        case foreignNumbers
    }

    private static let folders = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"]

    /// The tracepoints of this machine.
    package init() throws(Obstacle) {
        guard ProcessIDNamespace.isOwn == false else { throw .foreignNumbers }
        if let points = try Self(in: Self.folders) {
            self = points
        } else {
            self = try Self.whereNothingIsMounted()
        }
    }

    /// nil: the folders do not have them.
    private init?(in folders: [String]) throws(Obstacle) {
        guard let switching = Self.text("sched_switch", in: folders),
            let waking = Self.text("sched_waking", in: folders)
        else { return nil }
        guard let switching = TracepointFormat(switching), let waking = TracepointFormat(waking),
            let points = Self(switching: switching, waking: waking)
        else { throw .unknownFormat }
        self = points
    }

    /// A privileged process may read tracefs even where it is not mounted, as in most containers
    /// and small virtual machines. The machine's own mounts stay as they are.
    private static func whereNothingIsMounted() throws(Obstacle) -> Self {
        let folder = fl_open_tracefs()
        guard folder >= 0 else { throw .unreadable }
        defer { close(folder) }
        guard let points = try Self(in: ["/proc/self/fd/\(folder)"]) else { throw .unreadable }
        return points
    }

    private static func text(_ name: String, in folders: [String]) -> String? {
        var buffer = ReadBuffer()
        for folder in folders {
            buffer.readAll(path: "\(folder)/events/sched/\(name)/format")
            if !buffer.contents.isEmpty { return String(decoding: buffer.contents, as: UTF8.self) }
        }
        return nil
    }
}
