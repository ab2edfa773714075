import ProfileModel

/// `window`: the first top-level X11 window of the process, or of one that it started, that is
/// mapped.
///
/// A thread of ours waits for the X server's events until it comes.
final class WindowSource: ReadySource {
    private let connection: XConnection
    private let isLaunch: Bool
    private let moment = AwaitedMoment()

    /// - Parameter isLaunch: the process has no windows yet.
    init(isLaunch: Bool) throws(SamplerError) {
        self.isLaunch = isLaunch
        connection = try XConnection.open()
    }

    func began(_ pid: Int32) {
        moment.pid = pid
        _ = startThread { [connection, isLaunch, moment] in
            var watch = WindowWatch(connection, moment)
            if !isLaunch { watch.lookAtAll() }
            watch.run()
        }
    }

    func look(at now: MonotonicTime, in launch: any LaunchView) -> MonotonicTime? { moment.time }

    func lastLook(_ signals: SignalQueue) -> MonotonicTime? { moment.time }

    var needsLooks: Bool { false }

    func end() { connection.hangUp() }
}
