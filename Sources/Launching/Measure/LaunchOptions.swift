package import ProfileModel
package import Readiness

/// How to launch a program that is measured.
package struct LaunchOptions: Sendable {
    /// The conditions that end the launch; the first one met counts. Empty: the program's end.
    package var until: [ReadyCondition]
    /// A launch that is not over after this time hangs; nil: there is no limit.
    package var watchdog: TimeSpan?
    /// Descriptors for its standard output and error; nil: ours. The caller keeps owning them.
    package var output: Int32?
    package var error: Int32?
    /// The surroundings in which it runs.
    package var child = ChildSetting()
    /// Receives the descriptor that reports the files which the program opens, if ``child`` asks
    /// for that (``ChildSetting/tellsOpens``). The receiver must serve it at once, and close it.
    package var takeListener: (@Sendable (Int32) -> Void)?
    /// Called with the id of the process, which then waits to become the program.
    package var prepare: (@Sendable (Int32) -> Void)?

    package init(until: [ReadyCondition] = [], watchdog: TimeSpan? = nil) {
        self.until = until
        self.watchdog = watchdog
    }
}

/// A launch that is over.
package struct FinishedLaunch: Sendable {
    package var observed: ObservedLaunch
    /// The process, if it goes on; nil: it has ended. The caller must end it and wait for it, and
    /// for all processes that it has left behind, which become the caller's children.
    package var program: Int32?
    /// The signal that ended the measurement; nil: no signal did.
    package var endSignal: Int32?
}
