import CSystem
import Glibc
import ProfileModel
import System

/// Follows a program that runs with our code in it from outside, until its launch is over: it is
/// neither traced nor looked at, but where a condition of `--until` takes that.
final class LaunchFollower {
    /// How a launch was over.
    struct Ending {
        /// When that was seen.
        var time: MonotonicTime
        var ready: Readiness?
        /// How the program has ended, which stays to be waited for; nil: it goes on.
        var end: fl_end?
        var isHung = false
        /// What ended the measurement.
        var signal: Int32?
    }

    let pid: Int32
    private let signals: SignalQueue
    private let ready: ReadyWatch
    private let view: LaunchedThreads
    private let interval: TimeSpan
    private let entryCodes: EntryCodes
    private let costs: TreeCosts?
    private(set) var images: [MeasuredImage]
    /// We were stopped meanwhile, and it perhaps, too.
    private(set) var wasStopped = false

    /// - Parameter interval: how often it is looked at in any case.
    init(
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

    /// - Parameter deadline: the launch hangs then; nil: it may last.
    func follow(until deadline: MonotonicTime?) -> Ending {
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
            // It is later now: what came meanwhile is told next.
            return nil
        }
        releaseSelfTraced()
        costs?.look()
        images.last?.code?.signposts?.look(ready)
        var end = fl_end()
        let hasEnded = fl_end_of(pid, &end) == 1
        // What the process did last may have been noticed only by others.
        let found = hasEnded ? ready.lastLook(signals) : ready.look(at: now, in: view)
        guard hasEnded || found != nil else { return nil }
        return Ending(time: now, ready: found, end: hasEnded ? end : nil)
    }

    /// A program that asks to be traced (PTRACE_TRACEME) is traced by the thread whose child it is: it
    /// goes on as if nobody did.
    private func releaseSelfTraced() {
        var isTraced: Int32 = 0
        while true {
            let status = fl_take_stop(pid, &isTraced)
            guard status > 0 else { return }
            guard isTraced == 1, case .signal(let number)? = TraceEvent(status: status) else {
                continue
            }
            // Traps are for whoever traces, and would kill: the kernel sends one at each exec.
            let signal = number == SIGTRAP ? 0 : number
            let tracee = Tracee(tid: pid)
            if (try? tracee.detach(delivering: signal)) != nil { continue }
            _ = StarterThread.shared?.perform { try? tracee.detach(delivering: signal) }
        }
    }

    /// The terminal stops the program along with us, and the shell waits for us alone.
    private func stop(by signal: Int32) {
        wasStopped = true
        let end = MonotonicTime.now + .milliseconds(500)
        while .now < end, ProcessFiles(pid: pid).stat()?.state != UInt8(ascii: "T") { usleep(1000) }
        signals.stop(by: signal)
    }

    // MARK: The next image

    /// A thread waits for us in the area, for it will execute another program. That is traced up to its
    /// first instruction, by a thread that ends then: if nothing is executed after all, all threads are
    /// released by that without being stopped.
    private func followExecution(_ area: Area) {
        images.last?.description = ProcessFiles(pid: pid).image(at: images.last?.reached ?? .now)
        let exec = AnnouncedExec(
            pid: pid, area: area, watchesSignposts: ready.watchesSignposts, entryCodes)
        if let image = exec.follow() { images.append(image) }
    }
}
