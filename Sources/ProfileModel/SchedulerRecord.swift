/// One event of the kernel's scheduler for a thread of the process, as reported.
package struct SchedulerRecord: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// From here on, all events of the thread are reported. Its current activity is unknown.
        case watched
        /// It was created, and wants a core.
        case began(creator: Int32)
        /// It got a core.
        case arrived(core: Int32)
        /// It left its core.
        case left(Departure, core: Int32)
        /// Its wait ended; it does not have a core yet.
        case woken(Waker)
        case ended
        /// Its events since then were lost; thread 0: those of any thread.
        case lost(since: MonotonicTime)
    }

    package enum Departure: Hashable, Sendable {
        /// The thread was not done: other work came first, or the profiler stopped it.
        case pushed
        case waiting
    }

    package struct Waker: Hashable, Sendable {
        /// The thread on the core where it happened; 0: none.
        package var tid: Int32
        /// Empty for a thread of the process, and if unknown.
        package var name: String
        package var isInterrupt: Bool

        package init(tid: Int32, name: String = "", isInterrupt: Bool = false) {
            self.tid = tid
            self.name = name
            self.isInterrupt = isInterrupt
        }
    }

    package var time: MonotonicTime
    package var tid: Int32
    package var kind: Kind

    package init(_ time: MonotonicTime, _ tid: Int32, _ kind: Kind) {
        self.time = time
        self.tid = tid
        self.kind = kind
    }
}
