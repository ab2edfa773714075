import CSystem
import Glibc
package import ProfileModel
import System

/// Starts, execs and ends of the processes that a process and its children start. The kernel
/// reports them, and no process is stopped for it. Each event wakes the thread that made this
/// object by a SIGCHLD, because the process may soon be gone.
package final class ProcessTreeEvents {
    private let rings: [PerfRing]
    /// Events that may be incomplete: another core may still report an older one.
    private var held: [News] = []
    /// All events up to this time have been returned.
    package private(set) var limit = MonotonicTime.now
    /// How often the kernel had no room for an event.
    package private(set) var lost: Int64 = 0

    package struct News: MomentaryEvent {
        package var time: MonotonicTime
        package var pid: Int32
        package var tid: Int32
        package var kind: Kind
    }

    package enum Kind {
        /// A thread began. `handle`: of its process, if the process began with this thread.
        case began(creator: Int32, handle: ProcessHandle?)
        /// Another program replaced the process's program; the first 15 bytes of the name by which
        /// it was executed, without its folders.
        case executed(name: String)
        /// A thread ended.
        case ended
    }

    /// Room for a thousand events.
    private static let pages = 16

    /// - Parameter pid: of a process with one thread.
    /// - Throws: why the events cannot be opened.
    package init(of pid: Int32) throws(SystemError) {
        rings = try PerfRing.onEachCore(
            pages: Self.pages, "opening the news of a process and its children"
        ) { fl_open_tree_news(pid, $0, SIGCHLD) }
    }

    /// Holds only the events that ``add(_:)`` gives it.
    package init() { rings = [] }

    package func add(_ news: News) { held.append(news) }

    /// The events since the last call, or since a little before it, in order.
    package func take() -> [News] {
        // A record that another core is writing now is read the next time.
        let now = MonotonicTime.now
        for ring in rings {
            ring.forEach { record in
                if record.kind == .lost {
                    lost &+= max(1, record.number(at: 8, as: Int64.self) ?? 1)
                } else if let news = Self.news(record) {
                    add(news)
                }
            }
        }
        held.sort { $0.time < $1.time }
        let count = held.firstIndex { $0.time > now } ?? held.count
        limit = now
        defer { held.removeFirst(count) }
        return Array(held.prefix(count))
    }

    private static func news(_ record: PerfRecords.Record) -> News? {
        guard let time = record.time, let pid = record.process, let tid = record.tid
        else { return nil }
        switch record.kind {
        case .fork:
            guard let child = record.child else { return nil }
            return News(
                time: time, pid: child.pid, tid: child.tid,
                kind: .began(
                    creator: pid, handle: child.pid == pid ? nil : ProcessHandle(child.pid)))
        case .name where record.isExec:
            return News(time: time, pid: pid, tid: tid, kind: .executed(name: record.name))
        case .exit: return News(time: time, pid: pid, tid: tid, kind: .ended)
        default: return nil
        }
    }
}
