import CSystem
import Glibc
package import ProfileModel
import System

/// Everything that the recorder waits for arrives as a signal, one after the other, in one place:
/// its own timer's ticks, news of traced threads, and requests to stop or to end. The signals are blocked
/// and fetched, never handled: no handler can interrupt anything.
package struct SignalQueue: Sendable {
    package enum Event: Hashable, Sendable {
        /// The timer expired, `missed` times more than could be served.
        case tick(missed: Int32)
        case childChanged
        /// SIGINT, SIGTERM, SIGHUP or SIGQUIT. One that the terminal sent has reached the
        /// program, too; one that somebody sent to the recorder alone has not.
        case end(signal: Int32, isFromTerminal: Bool)
        /// SIGUSR1, SIGUSR2 or SIGALRM, which are meant for the program that we started.
        case message(signal: Int32)
        /// The recording is to end, and the program to go on: by `firstlight stop`, or SIGUSR1 where we
        /// have started no program, whose it would be.
        case finish
        /// SIGTSTP (Ctrl-Z), SIGTTIN or SIGTTOU: see ``SignalQueue/stop(by:)``.
        case stop(signal: Int32)
    }

    private let set: sigset_t
    /// The mask as it was: what the profiled program must start with.
    let originalMask: sigset_t
    /// Which signals we were started with ignored, as the program must be then.
    let ignoredSignals: UInt64

    /// Whether a program was going to be started.
    private let hasProgram: Bool

    /// nil: there is no program of ours in our group.
    private let witness: GroupWitness?

    static let endSignals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    /// They would end us and spare the program.
    private static let messages = [SIGUSR1, SIGUSR2, SIGALRM]

    /// Those that end a recording which has started no program.
    static let finishSignals = [SIGUSR1, fl_finish_signal()]

    private static let stopSignals = [SIGTSTP, SIGTTIN, SIGTTOU]

    /// Blocks the signals in this thread and all that it creates from now on: call it before
    /// any other thread exists.
    ///
    /// - Parameter launching: whether a program is going to be started.
    package init(launching: Bool = false) {
        var set = sigset_t()
        sigemptyset(&set)
        let ignored = fl_ignored_signals()
        // Whoever had these ignored (nohup, a shell's `&`) wants us to go on.
        let requests = (Self.endSignals + Self.stopSignals).filter { signal in
            ignored & 1 << UInt64(signal - 1) == 0
        }
        // Ignored or not: the program may have set a handler.
        let messages = launching ? Self.messages + [fl_finish_signal()] : Self.finishSignals
        for signal in requests + messages + [SIGCHLD, fl_tick_signal()] { sigaddset(&set, signal) }
        var original = sigset_t()
        pthread_sigmask(SIG_BLOCK, &set, &original)
        self.set = set
        originalMask = original
        ignoredSignals = ignored
        // Ignored, it would not tell us of our children.
        signal(SIGCHLD, SIG_DFL)
        hasProgram = launching
        witness = launching ? GroupWitness() : nil
        // What `alarm 5; exec "$@"` has set is the program's.
        if launching { fl_take_timers() }
    }

    /// Whether a signal that was taken came to all of our process group, or does so within `span`:
    /// who signals a group may signal us before, as timeout(1) does. Then both count as one.
    func cameToGroup(_ signal: Int32, within span: TimeSpan) -> Bool {
        guard let witness else { return false }
        let deadline = MonotonicTime.now + span
        while !witness.hasHad(signal) {
            guard .now < deadline else { return false }
            usleep(1000)
        }
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, signal)
        var none = timespec()
        while sigtimedwait(&set, nil, &none) > 0 {}
        return true
    }

    /// Blocks until the next event.
    package func next() -> Event {
        while true {
            var taken = fl_signal()
            var set = set
            guard fl_wait_signal(&set, &taken) == 0 else { continue }
            return event(taken)
        }
    }

    /// Blocks until the next event, or for so long; nil: that came first.
    package func next(within span: TimeSpan?) -> Event? {
        span.map { next(before: .now + $0) } ?? next()
    }

    /// Blocks until the next event, or a moment; nil: that came first.
    package func next(before deadline: MonotonicTime) -> Event? {
        while true {
            var taken = fl_signal()
            var set = set
            let left = max(.zero, deadline - .now)
            if fl_wait_signal_for(&set, left.nanoseconds, &taken) == 0 { return event(taken) }
            if left == .zero { return nil }
        }
    }

    private func event(_ taken: fl_signal) -> Event {
        switch taken.number {
        case fl_tick_signal(): return .tick(missed: taken.overrun)
        case SIGCHLD: return .childChanged
        case let signal where Self.stopSignals.contains(signal): return .stop(signal: signal)
        case fl_finish_signal(): return .finish
        case SIGUSR1 where !hasProgram: return .finish
        case let signal where Self.messages.contains(signal): return .message(signal: signal)
        default:
            // SI_KERNEL: the terminal driver.
            return .end(signal: taken.number, isFromTerminal: taken.code == 0x80)
        }
    }

    /// Stops us as the signal would have done, until somebody continues us.
    package func stop(by signal: Int32) {
        raise(signal)
        change(SIG_UNBLOCK, [signal])
        change(SIG_BLOCK, [signal])
    }

    /// From now on the calling thread is stopped as if there were no queue: nobody depends on us.
    package func leaveStops() { change(SIG_UNBLOCK, Self.stopSignals) }

    private func change(_ how: Int32, _ signals: [Int32]) {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        pthread_sigmask(how, &set, nil)
    }
}
