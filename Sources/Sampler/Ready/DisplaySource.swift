import CXCB
import Glibc
import ProfileModel
import System

/// `window` and `frame`: the first top-level window of the process, or of one that it started, and
/// the first picture in such a window. Watches each display that the environment names.
///
/// On X11 a thread of ours waits for the server's events. On Wayland, a process between the program
/// and the compositor reports them.
final class DisplaySource: ReadySource {
    enum Wanted {
        case window, frame
    }

    private let wanted: Wanted
    private let isLaunch: Bool
    private let connection: XConnection?
    private let relay: WaylandRelay?
    private let moment = AwaitedMoment()

    /// - Parameters:
    ///   - relay: nil: there is no Wayland, or it is too late to relay it.
    ///   - connection: nil: there is no X server.
    ///   - isLaunch: true if the process has no windows yet.
    init(_ wanted: Wanted, _ connection: XConnection?, _ relay: WaylandRelay?, isLaunch: Bool) {
        self.wanted = wanted
        self.isLaunch = isLaunch
        self.connection = connection
        self.relay = relay
    }

    func began(_ pid: Int32) {
        moment.pid = pid
        relay?.began(pid)
        guard let connection else { return }
        _ = startThread { [wanted, isLaunch, moment] in
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
    }

    func look(at now: MonotonicTime, in launch: any LaunchView) -> MonotonicTime? {
        relay?.look()
        for _ in 0..<(relay?.takeLosses() ?? 0) { launch.note(.unfollowedDisplay) }
        return found
    }

    var needsLooks: Bool { relay != nil }

    func end() { connection?.hangUp() }

    func lastLook(_ signals: SignalQueue) -> MonotonicTime? {
        relay?.lastLook()
        return found
    }

    /// The earlier of the two displays' times.
    private var found: MonotonicTime? {
        let told = wanted == .window ? relay?.configured : relay?.framed
        return [moment.time, told].compactMap { $0 }.min()
    }
}
