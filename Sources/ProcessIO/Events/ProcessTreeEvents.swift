import CSystem
import Glibc
package import ProfileModel
import System

/// What happens to the processes that a process and its children start: told by the kernel, while none
/// of them stands for it. Each piece of news wakes the thread that made this object by a SIGCHLD, for
/// what it tells of may be over soon.
package final class ProcessTreeEvents {
    private let rings: [PerfRing]
    /// What may not be all yet: another core may have something older.
    private var held: [News] = []
    /// Up to when all is told.
    package private(set) var limit = MonotonicTime.now
    /// How often the kernel had no room for news.
    package private(set) var lost: Int64 = 0

    package struct News: MomentaryEvent {
        package var time: MonotonicTime
        package var pid: Int32
        package var tid: Int32
        package var kind: Kind
    }

    package enum Kind {
        /// A thread began; of a process that began with it, what stands for that.
        case began(creator: Int32, handle: ProcessHandle?)
        /// Another program took the process over; the first 15 bytes of the name by which it was
        /// executed, without its folders.
        case executed(name: String)
        /// A thread ended.
        case ended
    }

    /// Room for a thousand of them.
    private static let pages = 16

    /// - Parameter pid: of a process with one thread.
    /// - Throws: why it cannot be had.
    package init(of pid: Int32) throws(SystemError) {
        rings = try PerfRing.onEachCore(
            pages: Self.pages, "opening the news of a process and its children"
        ) { fl_open_tree_news(pid, $0, SIGCHLD) }
    }

    /// Of what is added, and nothing else.
    package init() { rings = [] }

    package func add(_ news: News) { held.append(news) }

    /// What happened since the last call, or a little before, in order.
    package func take() -> [News] {
        // Who writes on another core now, is read the next time.
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
