import CSystem
import Glibc
package import ProcessIO
package import ProfileModel
import System

extension HeldProcess {
    /// A process's use of resources before its launch began.
    package struct Usage {
        package var time: MonotonicTime
        /// CPU time of the process.
        package var cpu: TimeSpan?
        package var counters: ProcessCounters
        /// Counters of its first thread.
        package var scheduler: SchedulerCounters?
    }

    /// Releases the child to execute the program up to its first instruction, and from there on
    /// with our code in it.
    ///
    /// - Parameter watchesSignposts: true if a condition waits for a signpost.
    package consuming func begin(
        _ thread: any ThreadAccess, watchesSignposts: Bool, _ entryCodes: EntryCodes
    ) throws(SamplerError) -> (image: MeasuredImage, before: Usage) {
        let stop = ExecStop(pid: pid)
        var before: Usage
        do throws(SystemError) {
            try Tracee(tid: pid).seizeForExec()
            before = Usage(
                time: .now, cpu: ProcessFiles(pid: pid).cpuTime,
                counters: ProcessFiles(pid: pid).counters(), scheduler: thread.counters())
            // The launch begins: the child exists, and is not held up.
            before.time = .now
            fl_release_held(release)
            try stop.wait(for: signals)
        } catch {
            end()
            throw .systemCall(error)
        }
        let reached = MonotonicTime.now
        let cpu = ProcessFiles(pid: pid).cpuTime
        var code: Int32 = 0
        let hasFailed = fl_read_int(failure, &code) == 1
        close(failure)
        if hasFailed {
            var status: Int32 = 0
            _ = fl_wait(pid, 0, &status)
            throw ProgramLookup.explain(path: path.text, code: code)
        }
        let entry = MeasuredEntry(
            pid: pid, thread: thread, sites: sites, isOurs: true,
            watchesSignposts: watchesSignposts, entryCodes: entryCodes)
        return (MeasuredImage(reached: reached, cpu: cpu, entry.enter(area)), before)
    }
}

/// The stop of a traced process after it has executed a program.
package struct ExecStop {
    package let pid: Int32

    package enum News {
        case executed
        /// The process has ended without executing anything.
        case ended
    }

    /// Waits for the stop, or for the child's end. A file system that does not answer may keep the
    /// child for ever, so a request for our end is still served.
    package func wait(for signals: SignalQueue) throws(SystemError) {
        var timeToEnd: MonotonicTime?
        let attentive = MonotonicTime.now + Self.attention
        while try news() == nil {
            if .now < attentive {
                sched_yield()
                continue
            }
            signals.awaitChild(within: .milliseconds(50))
            guard SignalQueue.isToEnd else { continue }
            let end = timeToEnd ?? .now + .milliseconds(1000)
            timeToEnd = end
            if .now >= end { throw SystemError("waiting for the new process", code: EINTR) }
        }
    }

    /// How long we poll: executing a program that is in memory takes less. A wake-up would take as
    /// long as all other work at the stop, and that held time would be unknown. A thread that
    /// shares our core goes first.
    package static let attention = TimeSpan.milliseconds(2)

    /// nil: no news. Passes on other stops.
    package func news() throws(SystemError) -> News? {
        let tracee = Tracee(tid: pid)
        while true {
            var isTraced: Int32 = 0
            let status = try check(fl_take_stop(pid, &isTraced), "waiting for the new process")
            guard status != 0 else { return fl_has_ended(pid) == 1 ? .ended : nil }
            switch TraceEvent(status: status) {
            case .executed: return .executed
            case .signal(let number): try? tracee.resume(delivering: number)
            case .groupStop: try? tracee.listen()
            default: try? tracee.resume()
            }
        }
    }
}
