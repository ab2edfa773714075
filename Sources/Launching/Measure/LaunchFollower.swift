import Agent
package import CSystem
import Glibc
package import ProcessIO
package import ProfileModel
package import Readiness
import System

/// Follows from outside a program that runs with our code in it, until its launch is over. The
/// program is neither traced nor read, unless a condition of `--until` needs it.
package final class LaunchFollower {
    /// How a launch ended.
    package struct Ending {
        /// When we noticed the end.
        package var time: MonotonicTime
        package var ready: Readiness?
        /// How the program has ended; its status is not taken yet. nil: the program goes on.
        package var end: fl_end?
        package var isHung = false
        /// The signal that ended the measurement.
        package var signal: Int32?
    }

    package let pid: Int32
    private let signals: SignalQueue
    private let ready: ReadyWatch
    private let view: LaunchedThreads
    private let interval: TimeSpan
    private let entryCodes: EntryCodes
    private let costs: TreeCosts?
    package private(set) var images: [MeasuredImage]
    /// True if we were stopped in the meantime, and perhaps the program, too.
    package private(set) var wasStopped = false

    /// - Parameter interval: how often we look in any case.
    package init(
        _ pid: Int32, _ image: MeasuredImage, _ ready: ReadyWatch, _ signals: SignalQueue,
        lookEvery interval: TimeSpan, _ entryCodes: EntryCodes, _ costs: TreeCosts?
    ) {
        self.costs = costs
        self.entryCodes = entryCodes
        self.interval = interval
        self.pid = pid
        images = [image]
        self.ready = ready
        self.signals = signals
        view = LaunchedThreads(pid: pid)
    }

    /// - Parameter deadline: after this the launch counts as hung; nil: no limit.
    package func follow(until deadline: MonotonicTime?) -> Ending {
        while true {
            let next = MonotonicTime.now + interval
            let event = signals.next(before: min(next, deadline ?? next))
            let now = MonotonicTime.now
            switch event {
            case nil, .childChanged?, .tick?:
                if let ending = look(at: now) { return ending }
                if let deadline, now >= deadline { return Ending(time: now, isHung: true) }
            case .end(let signal, _)?: return Ending(time: now, signal: signal)
            case .finish?: break
            case .message(let signal)?: Program(pid: pid).pass(signal, from: signals)
            case .stop(let signal)?: stop(by: signal)
            }
        }
    }

    /// One signal may stand for many changes.
    private func look(at now: MonotonicTime) -> Ending? {
        if let area = images.last?.area, area.isAboutToExecute {
            followExecution(area)
            // Time has passed: the next look reports later events.
            return nil
        }
        releaseSelfTraced()
        costs?.look()
        if let code = images.last?.code {
            // Our code writes through `/proc`, which the program's root may lack.
            _ = code.area.write(code.patches, TargetMemory(pid: pid))
            code.signposts?.look(ready)
        }
        var end = fl_end()
        let hasEnded = fl_end_of(pid, &end) == 1
        // Only other processes may have noticed the process's last actions.
        let found = hasEnded ? ready.lastLook(signals) : ready.look(at: now, in: view)
        guard hasEnded || found != nil else { return nil }
        // Later than the condition found, which may have been met after the look began.
        return Ending(time: .now, ready: found, end: hasEnded ? end : nil)
    }

    /// A program that asks to be traced (PTRACE_TRACEME) is traced by the thread that forked it. We
    /// resume it as if it were not traced.
    private func releaseSelfTraced() {
        var isTraced: Int32 = 0
        while true {
            let status = fl_take_stop(pid, &isTraced)
            guard status > 0 else { return }
            guard isTraced == 1, case .signal(let number)? = TraceEvent(status: status) else {
                continue
            }
            // SIGTRAP is meant for a tracer, and would kill the program: the kernel sends one at
            // each exec.
            let signal = number == SIGTRAP ? 0 : number
            let tracee = Tracee(tid: pid)
            if (try? tracee.detach(delivering: signal)) != nil { continue }
            _ = StarterThread.shared?.perform { try? tracee.detach(delivering: signal) }
        }
    }

    /// The terminal stops the program along with us, but the shell waits for us alone.
    private func stop(by signal: Int32) {
        wasStopped = true
        let end = MonotonicTime.now + .milliseconds(500)
        while .now < end, ProcessFiles(pid: pid).stat()?.state != UInt8(ascii: "T") { usleep(1000) }
        signals.stop(by: signal)
    }

    // MARK: The next image

    /// A thread waits for us in the area, because it will execute another program. One of our
    /// threads traces that exec up to the new program's first instruction, and then ends. If
    /// nothing is executed after all, the end of our thread releases all threads without stopping
    /// them.
    private func followExecution(_ area: AgentMemory) {
        images.last?.description = ProcessFiles(pid: pid).image(at: images.last?.reached ?? .now)
        let exec = AnnouncedExec(
            pid: pid, area: area, watchesSignposts: ready.watchesSignposts, entryCodes)
        if let image = exec.follow() { images.append(image) }
    }
}

/// The threads of a process that is not sampled; looked at only on request.
package final class LaunchedThreads: LaunchView {
    private let files: ProcessFiles
    private var threads: [Int32: KernelThread] = [:]

    package init(pid: Int32) { files = ProcessFiles(pid: pid) }

    package var now: MonotonicTime { .now }

    package var blockedSignature: UInt64? {
        let tids = Set(files.threadIDs())
        threads = threads.filter { tids.contains($0.key) }
        return IdleSource.signature(of: tids.sorted().map { ($0, stretch(of: $0)) })
    }

    package var waitsForDisk: Bool { threads.values.contains { $0.state() == UInt8(ascii: "D") } }

    /// Not needed: a launch that we have not seen become ready counts as not ready.
    package func note(_ kind: RecorderNote.Kind) {}

    /// Identifies a thread's present wait; nil: the thread is not blocked.
    private func stretch(of tid: Int32) -> UInt32? {
        let thread = threads[tid] ?? KernelThread(process: files.pid, tid: tid)
        threads[tid] = thread
        guard let before = thread.counters()?.timeslices, case .blocked? = thread.activity(),
            // The same count again: so no slice lay between the two readings.
            thread.counters()?.timeslices == before
        else { return nil }
        return UInt32(truncatingIfNeeded: before)
    }
}
