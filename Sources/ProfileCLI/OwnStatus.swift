/// The exit statuses with which firstlight speaks for itself. The manual page has all statuses:
/// ``ExitStatus``.
enum OwnStatus {
    /// A failure of ours in a subcommand that runs programs, whose own statuses are smaller. As in
    /// env(1) and timeout(1).
    static let failure: Int32 = 125
    /// The launch was not over in time. As in timeout(1).
    static let stalled: Int32 = 124
    /// `measure` gave up: something that was requested is not possible.
    static let gaveUp: Int32 = 1
}
