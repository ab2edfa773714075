/// A process that a launch has left behind, and what happened to it.
package struct LeftBehind: Hashable, Sendable, CustomStringConvertible {
    package enum End: Hashable, Sendable {
        /// It still runs: a daemon, which was not to be ended.
        case running
        /// It ended on request (SIGTERM).
        case terminated
        /// It did not end on request, so it was killed.
        case killed
        /// Even killing did not end it in time: it waits for a device or a server, or belongs to
        /// another user.
        case remains
    }

    package var pid: Int32
    package var name: String
    /// True if it has made its own session, as daemons do.
    package var isDaemon: Bool
    package var end: End

    package init(pid: Int32, name: String, isDaemon: Bool, end: End) {
        self.pid = pid
        self.name = name
        self.isDaemon = isDaemon
        self.end = end
    }

    /// Its name without control characters, since the process has chosen it.
    package var plainName: String {
        String(
            String.UnicodeScalarView(
                name.unicodeScalars.filter { $0.value >= 32 && !(127...159).contains($0.value) }))
    }

    package var description: String {
        let who = "\(isDaemon ? "daemon" : "process") \(plainName) (\(pid))"
        return switch end {
        case .running: "\(who) runs on"
        case .terminated: "\(who) was ended"
        case .killed: "\(who) was killed"
        case .remains: "\(who) could not be ended"
        }
    }
}
