import CSystem
import Glibc
package import ProcessIO
package import ProfileModel

/// What the kernel tells of the processes that a process and its children start, while a launch is
/// measured: nobody is woken for it, and it is read now and then.
package final class TreeCosts {
    private let rings: [PerfRing]
    /// Between threads with the same inherited events the kernel exchanges these instead of switching
    /// them, and tells nothing of the end of who has the first process's. An event that nobody inherits
    /// keeps that one's from being the same.
    private let lone: Int32
    private var news: [ProcessCosts.News] = []
    /// Something was not told, or is too much to be kept.
    private var isIncomplete = false

    /// Room for two thousand of them on each core; an unprivileged user has little more.
    private static let pages = 32
    /// Of a quarter of a million pieces of news nobody reads the names.
    private static let most = 1 << 18

    /// - Parameter pid: of a process with one thread.
    /// - Throws: why it cannot be had.
    package init(of pid: Int32) throws(SystemError) {
        lone = fl_open_lone_event(pid)
        do throws(SystemError) {
            rings = try PerfRing.onEachCore(
                pages: Self.pages, "opening the news of a process and its children"
            ) { fl_open_tree_costs(pid, $0) }
        } catch {
            if lone >= 0 { close(lone) }
            throw error
        }
    }

    deinit { if lone >= 0 { close(lone) } }

    /// Takes what has come, before there is no room for more.
    package func look() {
        for ring in rings {
            ring.forEach { record in
                if record.kind == .lost || news.count >= Self.most {
                    isIncomplete = true
                } else if let piece = Self.news(record) {
                    news.append(piece)
                }
            }
        }
    }

    /// nil: not all of them are known.
    ///
    /// - Parameters:
    ///   - first: the launch's first process, which is none of them.
    ///   - isLate: the launch has been over for a while: what goes on has used more since.
    package func processes(
        of first: Int32, called name: String, until end: MonotonicTime, isLate: Bool
    ) -> [MeasuredProcesses]? {
        look()
        let going = ProcessCosts(of: first, called: name, news).going
        var used: [Int32: TimeSpan] = [:]
        if !isLate { for pid in going { used[pid] = ProcessFiles(pid: pid).cpuTime } }
        // What of them was gone already has been told by now.
        look()
        guard !isIncomplete else { return nil }
        return ProcessCosts(of: first, called: name, news)
            .costs(until: end, isLate: isLate) { used[$0] }
    }

    private static func news(_ record: PerfRecords.Record) -> ProcessCosts.News? {
        guard let time = record.time, let pid = record.process else { return nil }
        func news(_ pid: Int32, _ kind: ProcessCosts.Kind) -> ProcessCosts.News {
            ProcessCosts.News(time: time, pid: pid, kind: kind)
        }
        switch record.kind {
        case .fork:
            return record.child.map {
                news($0.pid, $0.pid == pid ? .threadBegan : .began(creator: pid))
            }
        case .name where record.isExec: return news(pid, .executed(name: record.name))
        case .exit: return news(pid, .threadEnded)
        case .count: return record.count.map { news(pid, .used($0)) }
        default: return nil
        }
    }
}
