/// One thing that the kernel's scheduler did with a thread of the process, as it told of it.
package struct SchedulerRecord: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// From here on everything that happens to the thread is told. What it does is not known.
        case watched
        /// It was made, and wants a core.
        case began(creator: Int32)
        /// It got a core.
        case arrived(core: Int32)
        /// It left its core.
        case left(Departure, core: Int32)
        /// Somebody ended its wait; a core is still to be had.
        case woken(Waker)
        case ended
        /// Nobody knows what happened to it since then; thread 0: to any of them.
        case lost(since: MonotonicTime)
    }

    package enum Departure: Hashable, Sendable {
        /// It would have gone on: other work came first, or the profiler stopped it.
        case pushed
        case waiting
    }

    package struct Waker: Hashable, Sendable {
        /// Who was on the core where it happened; 0: nobody.
        package var tid: Int32
        /// Empty for a thread of the process, and where it is not known.
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
