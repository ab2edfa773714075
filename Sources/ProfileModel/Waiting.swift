/// Why a thread was blocked, according to its system call and its arguments.
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
        /// A page that had to be fetched, outside any system call. If another thread ended the
        /// wait, analysis finds the true reason (``WaitReason/pageFault``).
        case disk
        case ioUring = "io_uring"
        case signal
        /// Stopped by a signal (SIGSTOP, job control).
        case stopped
        /// Its control group is frozen (a paused container, `systemctl freeze`).
        case frozen
        case other
    }

    // The longest first: there are many values, and less space is lost between the fields.
    /// The details of the wait, for people; nil: unknown. The sampler's `WaitInspection` writes
    /// them, by kind:
    ///
    /// - lock: `mutex`, `read-write lock`, or the path of a locked file.
    /// - condition: `end of a thread`, `condition variable`, `semaphore`.
    /// - sleep: the call and its length: `nanosleep 5 ms`. A wait that timed out has the awaited
    ///   object, too: `condition variable, time-out after 500 ms`. The same applies to a poll.
    /// - file, terminal, and a named pipe: its path.
    /// - socket: the peer's address, or its own if it has no peer: `127.0.0.1:5432`, `[::1]:80`, a
    ///   path, `@name`; for a listening socket `listening`, `listening on 0.0.0.0:80`.
    /// - poll: the number of descriptors, and the first three if known: `2 descriptors: pipe,
    ///   socket 127.0.0.1:5432`. `…` stands for all others.
    /// - child: the child's program name and first argument, `git rev-parse`.
    /// - signal, other: the kernel's kind of file (`signalfd`, `eventfd`), `semaphore`, `message
    ///   queue`.
    ///
    /// `WaitDetails` in Analysis completes the text. For the kind other it puts the call's name in
    /// front (`futex`, `read: eventfd`). For a lock it adds the name or address at the end (`mutex
    /// queue`). For a `futex` that timed out it adds the kind of object, according to the functions
    /// on the stack. There `WaitGroups` reads the text's beginning (`listening`, `futex`, `1
    /// descriptor: socket `). If you change one of these texts, change it there, too.
    package var detail: String?
    /// The address of the lock, condition or semaphore in the program's memory; nil: none, or
    /// unknown.
    package var place: UInt64?
    /// The thread that holds the lock or must end, or the child; nil: unknown.
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

extension WaitReason {
    /// Separates the awaited object from the time after which the thread gave up.
    package static let timeout = ", time-out after "
    /// Python's global interpreter lock. Analysis finds it.
    package static let interpreterLock = WaitReason(.lock, detail: "GIL")

    /// True if the wait ended because its time-out expired.
    package var isTimedOut: Bool { detail?.firstRange(of: Self.timeout) != nil }

    /// A wait for the lock of the process's address space. The wait is in a call that changes
    /// mappings, and a thread of the same process ended it. Analysis finds it.
    package static let addressSpace = WaitReason(.lock, detail: "address space")
    /// A wait in a page fault that a thread of the same process ended. It was for that lock, or for
    /// a page that the thread had. Analysis finds it.
    package static let pageFault = WaitReason(.other, detail: "page fault")
}

/// One wait of a thread.
package struct Wait: Hashable, Sendable {
    package var start: MonotonicTime
    package var end: MonotonicTime
    package var reason: WaitReason
    package var thread: ThreadIndex
    /// The number of the system call, -1: outside a call.
    package var systemCall: Int32
    /// nil: not available.
    package var stack: StackID?

    /// Shorter waits have no row of their own; their times are in the slices.
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

extension String {
    /// The awaited object, without the time after which the thread gave up.
    package var withoutTimeout: String {
        guard let timeout = firstRange(of: WaitReason.timeout) else { return self }
        return String(self[..<timeout.lowerBound])
    }
}
