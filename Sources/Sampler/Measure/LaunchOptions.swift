package import ProfileModel

/// How a program is launched to be measured.
package struct LaunchOptions: Sendable {
    /// What ends the launch, whichever comes first; none: the program's end.
    package var until: [ReadyCondition]
    /// A launch that is not over after this time hangs; nil: there is no limit.
    package var watchdog: TimeSpan?
    /// Descriptors that are its standard output and error; nil: ours. They stay the caller's.
    package var output: Int32?
    package var error: Int32?
    /// In what surroundings it runs.
    package var child = ChildSetting()
    /// Is handed what tells of the files that the program opens, where ``child`` asks for that
    /// (``ChildSetting/tellsOpens``): it is the caller's to serve, at once, and to close.
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
    /// The process, if it goes on: it is the caller's to end and to wait for, and so is whatever it
    /// has left behind, which becomes the caller's child. nil: it has ended.
    package var program: Int32?
    /// The signal that ended the measurement; nil: none did.
    package var endSignal: Int32?
}
