/// Why a thread was blocked, as far as its system call and its arguments tell.
package struct WaitReason: Hashable, Sendable {
    /// The raw values are stored, and are those of the JSON report.
    package enum Kind: String, Sendable, CaseIterable {
        /// A lock that another thread holds.
        case lock
        /// A condition variable, a semaphore, or another thread's end.
        case condition
        case sleep
        /// A file's data or metadata.
        case file
        case socket
        case pipe
        case terminal
        /// Any of several descriptors (poll, select, epoll).
        case poll
        /// A child process's end.
        case child
        /// A page that had to be fetched, outside of any system call.
        case disk
        case ioUring = "io_uring"
        case signal
        case other
    }

    // The longest first: there are many of them, and less room is lost between.
    /// Which one, for people; nil: not known. What the sampler's `WaitInspection` writes, by kind:
    ///
    /// - lock: `mutex`, `read-write lock`, or the path of a locked file.
    /// - condition: `end of a thread`, `condition variable`, `semaphore`.
    /// - sleep: the call, and the length that it was given: `nanosleep 5 ms`.
    /// - file, terminal, and a pipe that has a name: its path.
    /// - socket: the peer's address, or its own where it has no peer: `127.0.0.1:5432`,
    ///   `[::1]:80`, a path, `@name`; of one that listens `listening`, `listening on 0.0.0.0:80`.
    /// - poll: how many there are, and what the first three are, as far as known: `2 descriptors:
    ///   pipe, socket 127.0.0.1:5432`. `…` stands for all others.
    /// - child: its program's name and first argument, `git rev-parse`.
    /// - signal, other: the kernel's kind of file (`signalfd`, `eventfd`), `semaphore`, `message
    ///   queue`.
    ///
    /// `WaitDetails` in Analysis completes it: the name of the call comes before it where the kind
    /// is other (`futex`, `read: eventfd`), a lock's name or address behind it (`mutex in queue`).
    /// `WaitGroups` there then reads it by its beginning (`listening`, `1 descriptor: socket `,
    /// `futex`). Who changes one of these texts must change it there, too.
    package var detail: String?
    /// Where in the program's memory it lies: a lock, a condition, a semaphore; nil: nowhere, or
    /// not known.
    package var place: UInt64?
    /// The thread that holds or will end it, or the child; nil: not known.
    package var owner: Int32?
    package var kind: Kind

    package init(
        _ kind: Kind, detail: String? = nil, owner: Int32? = nil, place: UInt64? = nil
    ) {
        self.kind = kind
        self.detail = detail
        self.owner = owner
        self.place = place
    }
}

/// One stretch of a thread's being blocked.
package struct Wait: Hashable, Sendable {
    package var start: MonotonicTime
    package var end: MonotonicTime
    package var reason: WaitReason
    package var thread: ThreadIndex
    /// The number of the call (x86-64), -1: outside of one.
    package var systemCall: Int32
    /// nil: it could not be had.
    package var stack: StackID?

    /// Shorter ones are not recorded: slices have their times.
    package static let shortest = TimeSpan.milliseconds(1)

    package init(
        thread: ThreadIndex, start: MonotonicTime, end: MonotonicTime, reason: WaitReason,
        systemCall: Int32, stack: StackID? = nil
    ) {
        self.thread = thread
        self.start = start
        self.end = end
        self.reason = reason
        self.systemCall = systemCall
        self.stack = stack
    }
}
