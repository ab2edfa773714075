import CAgent
import CSystem
import Glibc
import ProfileModel
import System

/// The exec of another program, for which a thread of the process waits until it is traced. Traced by a
/// thread of ours that ends then: if nothing is executed after all, it releases all threads by that,
/// without stopping any.
final class AnnouncedExec: @unchecked Sendable {
    private let pid: Int32
    /// Of the image that is about to go.
    private let area: Area
    private let watchesSignposts: Bool
    private let entryCodes: EntryCodes
    private var image: MeasuredImage?

    init(pid: Int32, area: Area, watchesSignposts: Bool, _ entryCodes: EntryCodes) {
        self.pid = pid
        self.area = area
        self.watchesSignposts = watchesSignposts
        self.entryCodes = entryCodes
    }

    /// - Returns: what was executed, with our code in it; nil: nothing.
    func follow() -> MeasuredImage? {
        _ = onTracerThread { self.trace() }
        return image
    }

    private func trace() {
        defer { fl_ptrace_leave() }
        let files = ProcessFiles(pid: pid)
        // Which thread it is does not show.
        let tids = files.threadIDs().filter { (try? Tracee(tid: $0).seizeForExec()) != nil }
        guard area.followExecution() else { return }
        // Beside what the kernel does for the execve.
        let number = area[\.next_area]
        let next =
            number < 0
            ? nil : Area(pid: pid, descriptor: number, stackBytes: MeasuredEntry.stackBytes)
        guard hasExecuted(besides: tids) else { return area.forgetExecution() }
        let reached = MonotonicTime.now
        let cpu = files.cpuTime
        let entry = MeasuredEntry(
            pid: pid, thread: KernelThread(process: pid, tid: pid), isOurs: false,
            watchesSignposts: watchesSignposts, entryCodes: entryCodes)
        let entered = entry.enter(next.map { InheritedArea(area: $0, descriptor: number) })
        image = MeasuredImage(reached: reached, cpu: cpu, entered)
    }

    /// The kernel may have to fetch the program from a disk; an attempt that fails tells at once.
    private func hasExecuted(besides tids: [Int32]) -> Bool {
        let start = MonotonicTime.now
        let deadline = start + Self.patience
        while area.isExecuting, .now < deadline {
            for tid in tids {
                switch try? ExecStop(pid: tid).news() {
                case .executed?: return true
                case .ended? where tid == pid: return false
                default: break
                }
            }
            if .now - start < ExecStop.attention { sched_yield() } else { usleep(20) }
        }
        return false
    }

    private static let patience = TimeSpan.milliseconds(1000)
}
