import CSystem
import Glibc
package import ProfileModel
import System

/// A stop requested from a traced thread. The thread makes it only while it runs its own code.
package protocol Interruption: AnyObject {
    /// True if the thread has stopped for this request, not for a signal of its own.
    var hasStopped: Bool { get }
    /// True if the request was withdrawn. The stop may still come if it was imminent.
    var isCalledOff: Bool { get }
    /// True if the stop will come: its signal is pending. If we detach from the thread, it gets the
    /// signal.
    var isOnItsWay: Bool { get }
    func callOff()
}

/// Why a thread cannot be asked to stop in its own code.
package enum NoInterruption: Error {
    /// The thread has at some time blocked each of the signals that we could use.
    case signalsAreBlocked
    /// The kernel refuses the event that this needs, or the thread has ended.
    case eventsAreRefused
}

/// The kernel's timer for the thread's CPU time sends the thread one signal, and only while it runs
/// its own code. ptrace's own interrupt would cut short a call that can return a partial result
/// (reads of `/dev/zero`, writes to pipes), or a call that is about to wait. This needs the same as
/// ``ThreadSamples``; a thread that stays in the kernel does not stop.
package final class KernelInterruption: Interruption {
    private let descriptor: Int32
    private let signal: Int32
    private let status: () -> ThreadStatus?
    private let tid: Int32

    /// The kernel ignores these by default, in case one arrives when the thread is no longer
    /// traced.
    private static let signals = [SIGURG, SIGWINCH]

    /// - Parameters:
    ///   - blocked: all signals that the thread was ever seen to block. A signal that arrives while
    ///     it is blocked stays pending, and the program can see that (sigpending, signalfd).
    ///   - caught: signals with a handler, our second choice: the program's own signal would be
    ///     lost if it arrived while ours is pending.
    ///   - period: the CPU time between two checks whether the thread runs its own code.
    ///   - status: reads the thread's current status.
    package init(
        tid: Int32, blocked: UInt64, caught: UInt64, period: TimeSpan,
        status: @escaping () -> ThreadStatus?
    ) throws(NoInterruption) {
        self.tid = tid
        self.status = status
        let free = Self.signals.filter { blocked & Signals.bit($0) == 0 }
        let signal = free.first(where: { caught & Signals.bit($0) == 0 }) ?? free.first
        self.signal = signal ?? 0
        // Without a signal, this only tests whether events are refused.
        let interval = signal == nil ? UInt64.max >> 1 : UInt64(max(1, period.nanoseconds))
        let opened = fl_open_interruption(tid, signal ?? Self.signals[0], interval)
        guard opened >= 0, DescriptorReserve.leaves(opened) else {
            if opened >= 0 { close(opened) }
            throw .eventsAreRefused
        }
        descriptor = opened
        guard signal != nil else { throw .signalsAreBlocked }
    }

    package var hasStopped: Bool { fl_ptrace_is_interruption(tid, descriptor) == 1 }

    package private(set) var isCalledOff = false

    package func callOff() {
        _ = fl_stop_events(descriptor)
        isCalledOff = true
    }

    package var isOnItsWay: Bool { status()?.hasPending(signal) == true }

    deinit { if descriptor >= 0 { close(descriptor) } }
}
