import CSystem
import Glibc

/// A stop that a traced thread was asked for, and makes where it runs its own code only.
protocol Interruption: AnyObject {
    /// Whether it is this for which the thread has stopped, not a signal of its own.
    var hasStopped: Bool { get }
    /// It may still come then, if it was about to.
    var isCalledOff: Bool { get }
    func callOff()
}

/// The kernel's timer for the thread's CPU time sends it a signal, once, and only where it runs its
/// own code. ptrace's own interrupt would end a call that returns a part of what was asked for (reads
/// of `/dev/zero`, writes to pipes), or one that it is just about to wait in. Needs what
/// ``ThreadSamples`` need; a thread that stays in the kernel does not stop.
final class KernelInterruption: Interruption {
    private let descriptor: Int32
    private let tid: Int32

    /// Of CPU time until it is looked whether the thread runs its own code.
    private static let period: UInt64 = 100_000
    /// Ignored by default, should one ever come when nobody traces the thread any more.
    private static let signals = [SIGURG, SIGWINCH]

    /// nil: it may not be had.
    ///
    /// - Parameter blocked: all signals that the thread was ever seen to block. What finds it blocked
    ///   when it comes stays pending, and the program can see that (sigpending, signalfd).
    init?(tid: Int32, blocked: UInt64) {
        self.tid = tid
        let free = Self.signals.first { blocked & Signals.bit($0) == 0 }
        guard let signal = free else { return nil }
        descriptor = fl_open_interruption(tid, signal, Self.period)
        guard descriptor >= 0 else { return nil }
    }

    var hasStopped: Bool { fl_ptrace_is_interruption(tid, descriptor) == 1 }

    private(set) var isCalledOff = false

    func callOff() {
        _ = fl_stop_events(descriptor)
        isCalledOff = true
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}
