import Glibc
package import ProcessIO
package import ProfileModel
import Synchronization

/// Tells whether one ``ReadyCondition`` is met. The sampling thread asks at every tick and must not
/// wait.
package protocol ReadySource: AnyObject {
    /// The process to watch exists. It has not executed a program yet, unless it was running
    /// already.
    func began(_ pid: Int32)
    /// When the condition was met; nil: not yet.
    func look(at now: MonotonicTime, in launch: any LaunchView) -> MonotonicTime?
    /// As ``look(at:in:)``, for a followed child of the process.
    func look(at now: MonotonicTime, inChild pid: Int32, _ child: any LaunchView) -> MonotonicTime?
    func childEnded(_ pid: Int32)
    /// As ``look(at:in:)``, after the process's end, for its last actions.
    func lastLook(_ signals: SignalQueue) -> MonotonicTime?
    /// True if news arrives only by looking. If false, SIGCHLD wakes the recorder when there is
    /// news.
    var needsLooks: Bool { get }
    /// No more looks will come: releases everything that the source holds.
    func end()
}

extension ReadySource {
    package func began(_ pid: Int32) {}
    package func look(at now: MonotonicTime, inChild pid: Int32, _ child: any LaunchView)
        -> MonotonicTime?
    { nil }
    package func childEnded(_ pid: Int32) {}
    package var needsLooks: Bool { true }
    package func end() {}
    package func lastLook(_ signals: SignalQueue) -> MonotonicTime? { nil }
}

/// The process to watch, and the moment that one of our threads waits for. Shared by that thread
/// and the sampling thread.
package final class AwaitedMoment: Sendable {
    private let state = Mutex<(pid: Int32?, time: MonotonicTime?)>((nil, nil))

    package var pid: Int32? {
        get { state.withLock { $0.pid } }
        set { state.withLock { $0.pid = newValue } }
    }

    package var time: MonotonicTime? { state.withLock { $0.time } }

    /// The first time counts.
    package func came(at time: MonotonicTime) {
        state.withLock { $0.time = $0.time ?? time }
        // Wakes the recorder, which may not be looking.
        kill(getpid(), SIGCHLD)
    }
}
