import CSystem
import Glibc
package import ProcessIO
package import ProfileModel
import System

/// The kernel's timer for a thread's CPU time. At each interval at which it finds the thread in its own
/// code it sends the sampling signal: no call of the thread's can end early by that. The thread
/// answers in slots of its own, which are asked in beforehand.
///
/// Needs what ``ThreadSamples`` need, and Linux 5.13, which ends such a timer when the thread executes
/// another program.
package final class SignalTimer {
    /// What it sends.
    package let signal: Int32
    /// How often threads had announced to block it when the thread's mask was looked at.
    package let masks: UInt32
    private let slots: SharedSlots
    private let descriptor: Int32
    private let place: Int

    /// It sends nothing before ``allow(_:)``.
    ///
    /// - Parameter own: the thread's slots.
    /// - Throws: why the kernel refuses it.
    /// - Returns: nil: the program has no room for another one.
    package init?(
        tid: Int32, sending signal: Int32, masks: UInt32, each interval: TimeSpan, own: [Int],
        in slots: SharedSlots
    ) throws(SystemError) {
        self.signal = signal
        self.masks = masks
        self.slots = slots
        descriptor = fl_open_timer(tid, signal, UInt64(max(1, interval.nanoseconds)))
        try check(descriptor, "opening a thread's timer")
        guard DescriptorReserve.leaves(descriptor) else {
            close(descriptor)
            throw SystemError("opening a thread's timer", code: EMFILE)
        }
        guard
            let place = slots.addTimer(
                tid: tid, signal: signal, descriptor: descriptor, own: own)
        else {
            close(descriptor)
            return nil
        }
        self.place = place
    }

    /// Lets it send so many more signals. If we are stopped, or have no core, it sends no others.
    package func allow(_ count: Int) {
        if count > 0 { _ = fl_refresh_timer(descriptor, Int32(clamping: count)) }
    }

    /// How many it may send beside those that are asked for: some signals find no slot that waits, and
    /// count as well.
    package static let reserve = 64

    /// Behind the descriptor's end no signal is raised any more: the kernel waits for that.
    deinit {
        close(descriptor)
        slots.removeTimer(place, descriptor: descriptor)
    }
}
