/// What a process's threads were doing when its launch should have been over but was not.
package struct Stall: Hashable, Sendable {
    package var time: MonotonicTime
    /// In the order of their discovery.
    package var threads: [StalledThread]

    package init(time: MonotonicTime, threads: [StalledThread]) {
        self.time = time
        self.threads = threads
    }
}

/// One thread of a ``Stall``.
package struct StalledThread: Hashable, Sendable {
    package var thread: ThreadIndex
    package var tid: Int32
    package var name: String
    /// The letter in proc(5)'s `stat`: R runs or wants to, S sleeps, D waits for the disk, T is
    /// stopped …; nil: unknown.
    package var state: UInt8?
    /// The number of the system call that it waits in, -1: it waits outside a call; nil:
    /// it does not wait.
    package var systemCall: Int32?
    /// The object that its futex call waits for; nil: it waits in another call.
    package var futex: FutexWait?

    package init(
        thread: ThreadIndex, tid: Int32, name: String, state: UInt8?, systemCall: Int32?,
        futex: FutexWait?
    ) {
        self.thread = thread
        self.tid = tid
        self.name = name
        self.state = state
        self.systemCall = systemCall
        self.futex = futex
    }
}

/// The object that a thread waits for in futex(2), according to the C library's data.
package enum FutexWait: Hashable, Sendable {
    /// A pthread_mutex_t at this address, and the thread that holds it.
    case mutex(UInt64, owner: Int32)
    /// A pthread_rwlock_t, and the thread that holds it for writing.
    case readWriteLock(UInt64, owner: Int32)
    /// A thread's end, in pthread_join.
    case end(of: Int32)
    /// A pthread_cond_t.
    case condition(UInt64)
    /// A sem_t.
    case semaphore(UInt64)
    /// Something else at this address.
    case other(UInt64)
}
