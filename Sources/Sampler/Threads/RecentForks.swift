import ProfileModel

/// Whether a thread has forked lately: a stop of it may then harm other threads, because one of its
/// children ends meanwhile.
///
/// The kernel drops a SIGCHLD that has no handler, but not if it is for a traced thread. If that
/// thread is stopped just then, the kernel wakes another thread for the signal. If the other thread
/// waits in `sigtimedwait` or its like, the wait ends with EINTR. So a thread that forked a moment
/// ago is not stopped for a sample: it may fork again, and most children that end do so soon.
struct RecentForks: Hashable, Sendable {
    /// How long a child counts as one that may end soon, and its parent as one that forks.
    static let youth = TimeSpan.milliseconds(1000)

    /// The children's ids as the kernel wrote them at the last look.
    private var children: [UInt8] = []
    /// When a look last found one child more, or another one.
    private var forked: MonotonicTime?

    /// - Parameter children: their ids, as the kernel writes them.
    /// - Returns: whether the thread has forked lately.
    mutating func look(_ children: [UInt8], at now: MonotonicTime) -> Bool {
        if children != self.children {
            self.children = children
            if !children.isEmpty { forked = now }
        }
        return forked.map { now - $0 < Self.youth } ?? false
    }
}
