package import Agent
import CAgent
import CSystem
import Glibc
import ProcessIO
import ProfileModel
import System

/// An exec that a thread of the process announces: the thread waits until it is traced. One of our
/// threads traces it and then ends. If nothing is executed after all, the end of our thread
/// releases all threads without stopping any.
package final class AnnouncedExec: @unchecked Sendable {
    private let pid: Int32
    /// The area of the image that is about to be replaced.
    private let area: AgentMemory
    private let watchesSignposts: Bool
    private let entryCodes: EntryCodes
    private var image: MeasuredImage?

    package init(pid: Int32, area: AgentMemory, watchesSignposts: Bool, _ entryCodes: EntryCodes) {
        self.pid = pid
        self.area = area
        self.watchesSignposts = watchesSignposts
        self.entryCodes = entryCodes
    }

    /// - Returns: the new image, with our code in it; nil: nothing was executed.
    package func follow() -> MeasuredImage? {
        _ = onTracerThread { self.trace() }
        return image
    }

    private func trace() {
        defer { fl_ptrace_leave() }
        let files = ProcessFiles(pid: pid)
        // We cannot see which thread it is.
        let tids = files.threadIDs().filter { (try? Tracee(tid: $0).seizeForExec()) != nil }
        guard area.followExecution() else { return }
        // We prepare this while the kernel works on the execve.
        let number = area[\.next_area]
        let next =
            number < 0
            ? nil
            : AgentMemory(
                of: KernelProcess(pid: pid), descriptor: number,
                stackBytes: MeasuredEntry.stackBytes)
        guard waitForExec(besides: tids) else { return area.forgetExecution() }
        let reached = MonotonicTime.now
        let cpu = files.cpuTime
        let entry = MeasuredEntry(
            pid: pid, thread: KernelThread(process: pid, tid: pid), isOurs: false,
            watchesSignposts: watchesSignposts, entryCodes: entryCodes)
        let entered = entry.enter(next.map { InheritedAgent(area: $0, descriptor: number) })
        image = MeasuredImage(reached: reached, cpu: cpu, entered)
    }

    /// The kernel may have to read the program from a disk; a failed attempt is reported at once.
    private func waitForExec(besides tids: [Int32]) -> Bool {
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
