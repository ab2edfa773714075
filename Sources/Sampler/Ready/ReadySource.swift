import Glibc
import ProfileModel
import Synchronization

/// Tells whether one condition of ``ReadyCondition`` is met. Asked at every tick by the sampling
/// thread, which must not be kept waiting.
protocol ReadySource: AnyObject {
    /// The process to watch is there; it has not executed anything yet, unless it runs already.
    func began(_ pid: Int32)
    /// When the condition was met; nil: not yet.
    func look(at now: MonotonicTime, in launch: any LaunchView) -> MonotonicTime?
    /// The same of a child of the process's that is followed.
    func look(at now: MonotonicTime, inChild pid: Int32, _ child: any LaunchView) -> MonotonicTime?
    func childEnded(_ pid: Int32)
    /// The same when the process has ended, for what it did last.
    func lastLook(_ signals: SignalQueue) -> MonotonicTime?
    /// Whether what it tells comes by looking only. Else the recorder is woken when there is news, by
    /// SIGCHLD.
    var needsLooks: Bool { get }
    /// Nobody asks any more: what it holds is given back.
    func end()
}

extension ReadySource {
    func began(_ pid: Int32) {}
    func look(at now: MonotonicTime, inChild pid: Int32, _ child: any LaunchView) -> MonotonicTime?
    { nil }
    func childEnded(_ pid: Int32) {}
    var needsLooks: Bool { true }
    func end() {}
    func lastLook(_ signals: SignalQueue) -> MonotonicTime? { nil }
}

/// The process to watch and the moment for which a thread of ours waits, between that thread and
/// the sampling thread.
final class AwaitedMoment: Sendable {
    private let state = Mutex<(pid: Int32?, time: MonotonicTime?)>((nil, nil))

    var pid: Int32? {
        get { state.withLock { $0.pid } }
        set { state.withLock { $0.pid = newValue } }
    }

    var time: MonotonicTime? { state.withLock { $0.time } }

    /// The first time counts.
    func came(at time: MonotonicTime) {
        state.withLock { $0.time = $0.time ?? time }
        // Nobody may be looking.
        kill(getpid(), SIGCHLD)
    }
}
