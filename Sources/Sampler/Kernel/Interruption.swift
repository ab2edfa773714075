import CSystem
import Glibc
import ProfileModel

/// A stop that a traced thread was asked for, and makes where it runs its own code only.
protocol Interruption: AnyObject {
    /// Whether it is this for which the thread has stopped, not a signal of its own.
    var hasStopped: Bool { get }
    /// It may still come then, if it was about to.
    var isCalledOff: Bool { get }
    /// Whether it will: its signal waits for the thread to go on. Who is not traced then gets it.
    var isOnItsWay: Bool { get }
    func callOff()
}

/// Why a thread cannot be asked to stop in its own code.
enum NoInterruption: Error {
    /// It has blocked each signal that this could take, or does so now.
    case signalsAreBlocked
    /// The kernel refuses the event that it takes, or the thread has ended.
    case eventsAreRefused
}

/// The kernel's timer for the thread's CPU time sends it a signal, once, and only where it runs its
/// own code. ptrace's own interrupt would end a call that returns a part of what was asked for (reads
/// of `/dev/zero`, writes to pipes), or one that it is just about to wait in. Needs what
/// ``ThreadSamples`` need; a thread that stays in the kernel does not stop.
final class KernelInterruption: Interruption {
    private let descriptor: Int32
    private let signal: Int32
    private let status: () -> ThreadStatus?
    private let tid: Int32

    /// Ignored by default, should one ever come when nobody traces the thread any more.
    private static let signals = [SIGURG, SIGWINCH]

    /// - Parameters:
    ///   - blocked: all signals that the thread was ever seen to block. What finds it blocked when it
    ///     comes stays pending, and the program can see that (sigpending, signalfd).
    ///   - caught: those that somebody has a handler for, the second choice: one of the program's own
    ///     that comes while ours is pending is lost.
    ///   - period: of CPU time until it is looked, again and again, whether it runs its own code.
    ///   - status: the thread's, as it is then.
    init(
        tid: Int32, blocked: UInt64, caught: UInt64, period: TimeSpan,
        status: @escaping () -> ThreadStatus?
    ) throws(NoInterruption) {
        self.tid = tid
        self.status = status
        let free = Self.signals.filter { blocked & Signals.bit($0) == 0 }
        let signal = free.first(where: { caught & Signals.bit($0) == 0 }) ?? free.first
        self.signal = signal ?? 0
        // Without a signal it only shows whether events are refused.
        let interval = signal == nil ? UInt64.max >> 1 : UInt64(max(1, period.nanoseconds))
        descriptor = fl_open_interruption(tid, signal ?? Self.signals[0], interval)
        guard descriptor >= 0 else { throw .eventsAreRefused }
        guard signal != nil else { throw .signalsAreBlocked }
    }

    var hasStopped: Bool { fl_ptrace_is_interruption(tid, descriptor) == 1 }

    private(set) var isCalledOff = false

    func callOff() {
        _ = fl_stop_events(descriptor)
        isCalledOff = true
    }

    var isOnItsWay: Bool { status()?.hasPending(signal) == true }

    deinit { if descriptor >= 0 { close(descriptor) } }
}
