import ProfileModel

/// Whether a stop of a thread may harm other threads because a child of its ends meanwhile.
///
/// The kernel drops a SIGCHLD that nobody handles, but not if it is for a thread that is traced. If
/// that one is stopped just then, another thread is woken for the signal, and if that waits in
/// `sigtimedwait` or its like, the wait ends with EINTR. So a thread that forked a moment ago is not
/// stopped for a sample: it may do so again, and of its children those that end soon are the many.
struct ChildrenWatch: Hashable, Sendable {
    /// How long a child counts as one that may end soon, and its parent as one that forks.
    static let youth = TimeSpan.milliseconds(1000)

    /// As the kernel wrote them when they were looked at last.
    private var children: [UInt8] = []
    /// When there was one more, or another.
    private var forked: MonotonicTime?

    /// - Parameter children: their ids, as the kernel writes them.
    mutating func hasForkedLately(_ children: [UInt8], at now: MonotonicTime) -> Bool {
        if children != self.children {
            self.children = children
            if !children.isEmpty { forked = now }
        }
        return forked.map { now - $0 < Self.youth } ?? false
    }
}
