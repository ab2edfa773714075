import CSystem
import Glibc
package import ProcessIO
package import ProfileModel
import System

/// The kernel's timer for a thread's CPU time. At each interval it sends the sampling signal if the
/// thread runs its own code, so no system call of the thread's can end early. The thread answers in
/// slots of its own, which hold requests beforehand.
///
/// Has the same requirements as ``ThreadSamples``, and needs Linux 5.13, which ends such a timer
/// when the thread executes another program.
package final class SignalTimer {
    /// The signal that it sends.
    package let signal: Int32
    /// How often threads had announced that they would block it when the thread's mask was read.
    package let masks: UInt32
    private let slots: SharedSlots
    private let descriptor: Int32
    private let place: Int

    /// It sends nothing before ``allow(_:)``.
    ///
    /// - Parameter own: the thread's slots.
    /// - Throws: the kernel's reason for refusing it.
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

    /// Allows `count` more signals. If we are stopped, or have no core, it sends no others.
    package func allow(_ count: Int) {
        if count > 0 { _ = fl_refresh_timer(descriptor, Int32(clamping: count)) }
    }

    /// How many signals it may send beyond those requested: some signals find no waiting slot, and
    /// count as well.
    package static let reserve = 64

    /// No signal is raised after the descriptor is closed: the kernel waits for that.
    deinit {
        close(descriptor)
        slots.removeTimer(place, descriptor: descriptor)
    }
}
