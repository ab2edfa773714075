package import CSystem
import Glibc
package import ProfileModel
import System

/// Everything that the recorder waits for arrives as a signal, in one place: its own timer's ticks,
/// news of traced threads, and requests to stop or to end. The signals are blocked and fetched,
/// never handled, so no handler can interrupt anything.
package struct SignalQueue: Sendable {
    package enum Event: Hashable, Sendable {
        /// The timer expired, `missed` times more than could be served.
        case tick(missed: Int32)
        case childChanged
        /// SIGINT, SIGTERM, SIGHUP or SIGQUIT. A signal from the terminal has reached the program,
        /// too. A signal sent to the recorder alone has not.
        case end(signal: Int32, isFromTerminal: Bool)
        /// SIGUSR1, SIGUSR2 or SIGALRM, meant for the program that we started.
        case message(signal: Int32)
        /// The recording is to end, and the program to go on. Sent by `firstlight stop`, or as
        /// SIGUSR1 if we have started no program that it could be meant for.
        case finish
        /// SIGTSTP (Ctrl-Z), SIGTTIN or SIGTTOU: see ``SignalQueue/stop(by:)``.
        case stop(signal: Int32)
    }

    private let set: sigset_t
    /// The mask before ours: the profiled program must start with it.
    package let originalMask: sigset_t
    /// The signals that were ignored when we started: the program must ignore them, too.
    package let ignoredSignals: UInt64

    /// True if this was made for starting a program.
    private let hasProgram: Bool

    /// nil: our group contains no program of ours.
    private let witness: ProcessGroupProbe?

    package static let endSignals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    /// Signals meant for the program. Unblocked, they would end us and not reach the program.
    private static let messages = [SIGUSR1, SIGUSR2, SIGALRM]

    /// The signals that end a recording which has started no program.
    package static let finishSignals = [SIGUSR1, fl_finish_signal()]

    private static let stopSignals = [SIGTSTP, SIGTTIN, SIGTTOU]

    /// Blocks the signals in this thread and in all threads that it creates from now on. Call it
    /// before any other thread exists.
    ///
    /// - Parameter launching: true if a program is going to be started.
    package init(launching: Bool = false) {
        var set = sigset_t()
        sigemptyset(&set)
        let ignored = fl_ignored_signals()
        // If the caller had these ignored (nohup, a shell's `&`), we must go on.
        let requests = (Self.endSignals + Self.stopSignals).filter { signal in
            ignored & 1 << UInt64(signal - 1) == 0
        }
        // Blocked even if ignored: the program may have set a handler.
        let messages = launching ? Self.messages + [fl_finish_signal()] : Self.finishSignals
        for signal in requests + messages + [SIGCHLD, fl_tick_signal()] { sigaddset(&set, signal) }
        var original = sigset_t()
        pthread_sigmask(SIG_BLOCK, &set, &original)
        self.set = set
        originalMask = original
        ignoredSignals = ignored
        // If it stayed ignored, we would not be notified of our children.
        signal(SIGCHLD, SIG_DFL)
        hasProgram = launching
        witness = launching ? ProcessGroupProbe() : nil
        // A timer set by `alarm 5; exec "$@"` belongs to the program.
        if launching { fl_take_timers() }
    }

    /// True if a signal that was taken came to our whole process group, or does so within `span`.
    /// The sender may signal us before the group, as timeout(1) does; then both signals count as
    /// one.
    package func cameToGroup(_ signal: Int32, within span: TimeSpan) -> Bool {
        guard let witness else { return false }
        let deadline = MonotonicTime.now + span
        while !witness.ask(signal) {
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

    /// Blocks until the next event, at most for `span`; nil: there was none.
    package func next(within span: TimeSpan?) -> Event? {
        span.map { next(before: .now + $0) } ?? next()
    }

    /// Blocks until the next event, at most until `deadline`; nil: there was none.
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

    /// Stops us as the signal would have done, until another process resumes us.
    package func stop(by signal: Int32) {
        raise(signal)
        change(SIG_UNBLOCK, [signal])
        change(SIG_BLOCK, [signal])
    }

    /// From now on, signals stop the calling thread as usual: nothing depends on us any more.
    package func leaveStops() { change(SIG_UNBLOCK, Self.stopSignals) }

    private func change(_ how: Int32, _ signals: [Int32]) {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        pthread_sigmask(how, &set, nil)
    }
}

extension SignalQueue {
    /// Waits up to `span`, which must be below a second, for a request to end or not to begin. nil:
    /// none came.
    package func endSignal(within span: TimeSpan) -> Int32? {
        wait(for: Self.endSignals + Self.finishSignals, within: span)
    }

    /// Waits up to `span`, which must be below a second, for news of a child. All other signals
    /// stay pending.
    package func awaitChild(within span: TimeSpan) { _ = wait(for: [SIGCHLD], within: span) }

    private func wait(for signals: [Int32], within span: TimeSpan) -> Int32? {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        var time = timespec(tv_sec: 0, tv_nsec: Int(span.nanoseconds))
        let number = sigtimedwait(&set, nil, &time)
        return number > 0 ? number : nil
    }
}

extension SignalQueue {
    /// True if a request to end is pending.
    package static var isToEnd: Bool {
        var pending = sigset_t()
        sigpending(&pending)
        return endSignals.contains { sigismember(&pending, $0) == 1 }
    }
}
