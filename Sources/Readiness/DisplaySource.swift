import CXCB
import Glibc
package import ProcessIO
package import ProfileModel
import System

/// `window` and `frame`: the first top-level window of the process, or of a process that it
/// started, and the first picture in such a window. Watches each display that the environment
/// names.
///
/// On X11, one of our threads waits for the server's events. On Wayland, a process between the
/// program and the compositor reports them.
package final class DisplaySource: ReadySource {
    package enum Wanted {
        case window, frame
    }

    private let wanted: Wanted
    private let connection: XConnection?
    private let relay: WaylandRelay?
    private let moment = AwaitedMoment()
    /// nil: there is no X server.
    private let gate: Gate?

    /// The thread for X11 is made here: later there might be one thread too many.
    ///
    /// - Parameters:
    ///   - relay: nil: there is no Wayland, or it is too late to relay it.
    ///   - connection: nil: there is no X server.
    ///   - isLaunch: true if the process has no windows yet.
    package init(
        _ wanted: Wanted, _ connection: XConnection?, _ relay: WaylandRelay?, isLaunch: Bool
    ) throws(DisplayProblem) {
        self.wanted = wanted
        self.connection = connection
        self.relay = relay
        gate = connection == nil ? nil : Gate()
        guard let connection, let gate else { return }
        let isStarted = startThread { [moment] in
            gate.wait()
            guard moment.pid != nil else { return }
            switch wanted {
            case .window:
                var watch = WindowWatch(connection, moment)
                if !isLaunch { watch.lookAtAll() }
                watch.run()
            case .frame:
                var watch = DrawingWatch(connection, moment)
                if !isLaunch { watch.lookAtAll() }
                watch.run()
            }
        }
        guard isStarted else {
            let error = SystemError(starting: "a thread for the X server", code: EAGAIN)
            throw DisplayProblem(reason: error.description)
        }
    }

    package func began(_ pid: Int32) {
        moment.pid = pid
        relay?.began(pid)
        gate?.open()
    }

    package func look(at now: MonotonicTime, in launch: any LaunchView) -> MonotonicTime? {
        relay?.look()
        for _ in 0..<(relay?.takeLosses() ?? 0) { launch.note(.unfollowedDisplay) }
        return found
    }

    package var needsLooks: Bool { relay != nil }

    package func end() {
        connection?.hangUp()
        // In case the process never began.
        gate?.open()
    }

    package func lastLook(_ signals: SignalQueue) -> MonotonicTime? {
        relay?.lastLook()
        return found
    }

    /// The earlier of the two displays' times.
    private var found: MonotonicTime? {
        let told = wanted == .window ? relay?.configured : relay?.framed
        return [moment.time, told].compactMap { $0 }.min()
    }
}

/// Keeps a thread waiting until the process exists.
///
/// Unsafe code: the semaphore lives at a fixed address.
private final class Gate: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func open() { sem_post(semaphore) }

    func wait() { while sem_wait(semaphore) != 0 {} }
}
