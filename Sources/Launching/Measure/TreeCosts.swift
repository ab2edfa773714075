import CSystem
import Glibc
package import ProcessIO
package import ProfileModel

/// The kernel's reports on the processes that a process and its children start, while a launch is
/// measured. No thread is woken for them. We read them from time to time.
package final class TreeCosts {
    private let rings: [PerfRing]
    /// Between threads with the same inherited events, the kernel exchanges these events instead of
    /// switching them. Then it does not report the end of the thread that has the first process's.
    /// An event that is not inherited makes the first process's events differ from the others'.
    private let lone: Int32
    private var news: [ProcessCosts.News] = []
    /// Reports were lost, or there were too many to keep.
    private var isIncomplete = false

    /// Room for two thousand reports on each core. An unprivileged user can lock little more.
    private static let pages = 32
    /// A list of the names of a quarter of a million reports would be useless.
    private static let most = 1 << 18

    /// - Parameter pid: of a process with one thread.
    /// - Throws: why the events cannot be opened.
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

    /// Takes the reports so far, before the room runs out.
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

    /// nil: some of them are not known.
    ///
    /// - Parameters:
    ///   - first: the launch's first process, which is not one of them.
    ///   - isLate: the launch has been over for a while: running processes have used more since.
    package func processes(
        of first: Int32, called name: String, until end: MonotonicTime, isLate: Bool
    ) -> [MeasuredProcesses]? {
        look()
        let going = ProcessCosts(of: first, called: name, news).going
        var used: [Int32: TimeSpan] = [:]
        if !isLate { for pid in going { used[pid] = ProcessFiles(pid: pid).cpuTime } }
        // The end of each process that was already gone has been reported.
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
