/// The exit statuses that firstlight gives itself, rather than those of the programs that it runs.
/// The manual page has all statuses: ``ExitStatus``.
enum OwnStatus {
    /// A failure of ours in a subcommand that runs programs, whose own statuses are smaller. As in
    /// env(1) and timeout(1).
    static let failure: Int32 = 125
    /// The launch was not over in time. As in timeout(1).
    static let stalled: Int32 = 124
    /// `measure` gave up: a requested condition is not possible.
    static let gaveUp: Int32 = 1
}
