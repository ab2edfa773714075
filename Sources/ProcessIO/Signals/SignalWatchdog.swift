import CSystem
import Glibc
import System

/// Makes sure that a request to end has an effect even if the thread that takes signals is stuck.
/// Reading the program's memory may wait for another process to supply it (userfaultfd(2), a file
/// system that is a process); writing waits for the reader. Both may last for ever. Then signals
/// get the effect that they have in any program. The recording keeps its content up to that moment,
/// and the program goes on, as after any sudden end of a recorder.
///
/// It does nothing if signals are taken in time. It runs from the first recording until we end.
package enum SignalWatchdog {
    /// A signal must have been pending in this many looks in a row, one per second.
    private static let patience = 5

    package static func begin() { _ = isBegun }

    private static let isBegun = startThread {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in SignalQueue.endSignals { sigaddset(&set, signal) }
        while true {
            var looks = 0
            while looks < patience {
                sleep(1)
                looks = SignalQueue.isToEnd ? looks + 1 : 0
            }
            pthread_sigmask(SIG_UNBLOCK, &set, nil)
            // The signal was taken at the last moment.
            pthread_sigmask(SIG_BLOCK, &set, nil)
        }
    }
}
