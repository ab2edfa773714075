package import Architecture

// The stages of a sample: a captured stack (``CapturedStack``), or one that is read from outside,
// is a ``Snapshot``; with the thread's time it is a ``Sample``; unwound and interned, a ``Slice``.

/// The stack of a running thread as captured by the kernel's event, a signal or a timer.
package struct CapturedStack: Sendable {
    package var time: MonotonicTime
    /// The thread's CPU time at that moment, in nanoseconds.
    package var cpu: Int64
    package var snapshot: Snapshot
    /// The thread was on an alternate signal stack: only a stop can copy both stacks.
    package var isOnAlternateStack: Bool

    package init(time: MonotonicTime, cpu: Int64, snapshot: Snapshot, isOnAlternateStack: Bool) {
        self.time = time
        self.cpu = cpu
        self.snapshot = snapshot
        self.isOnAlternateStack = isOnAlternateStack
    }

    package var registers: Registers { snapshot.registers }
    package var stack: StackCopy { snapshot.stack }
    package var frames: RuntimeCopy? { snapshot.frames }
}

/// A thread's stack at one moment: enough to unwind it later, elsewhere.
package struct Snapshot: Sendable {
    package var registers: Registers
    /// From the stack pointer upwards, as far as it was copied.
    package var stack: StackCopy
    /// The stack that a signal handler interrupted, if the handler runs on another one.
    package var interrupted: StackCopy?
    /// The thread's position and the return addresses in the kernel, innermost first, as the kernel
    /// reported them: the code that was called at ``registers``. Empty: it was in its own code, or
    /// this is unknown.
    package var kernelChain: [UInt64]
    /// The interpreter's frames, for a thread that runs an interpreter's code. nil: the thread does
    /// not, or they could not be read.
    package var frames: RuntimeCopy?

    package init(
        registers: Registers, stack: StackCopy, interrupted: StackCopy? = nil,
        kernelChain: [UInt64] = [], frames: RuntimeCopy? = nil
    ) {
        self.frames = frames
        self.registers = registers
        self.stack = stack
        self.interrupted = interrupted
        self.kernelChain = kernelChain
    }

    /// The size of all that was copied, in bytes.
    package var byteCount: Int {
        stack.bytes.count + (interrupted?.bytes.count ?? 0) + 8 * kernelChain.count
            + (frames?.byteCount ?? 0)
    }
}

/// Some of a process's memory at one moment.
package struct StackCopy: Sendable {
    /// The address of the first byte.
    package var start: UInt64
    package var bytes: [UInt8]

    package init(start: UInt64, bytes: [UInt8]) {
        self.start = start
        self.bytes = bytes
    }
}

/// A thread's time since its previous sample, with the stack that it has now, still to be unwound.
package struct Sample: Sendable {
    package enum Content: Sendable {
        case snapshot(Snapshot)
        /// The thread has not moved since its last sample.
        case unchanged
        /// The thread ran, but no stack was taken. Its stack is that of its next sample while it
        /// runs, which represents all CPU time since the previous one.
        case following
        /// There is no stack, and none was expected (before `exec`).
        case none
        /// A stack was expected, but is missing.
        case missing(Truncation)

        package var isSnapshot: Bool {
            if case .snapshot = self { true } else { false }
        }
    }

    package var thread: ThreadIndex
    package var start: MonotonicTime
    package var times: StateTimes
    package var content: Content
    package var systemCall: Int32?
    /// Counts the thread's waits, so that a ``StackRefinement`` can refer to one of them.
    package var blocking: UInt32

    package init(
        thread: ThreadIndex, start: MonotonicTime, times: StateTimes, content: Content,
        systemCall: Int32? = nil, blocking: UInt32 = 0
    ) {
        self.thread = thread
        self.start = start
        self.times = times
        self.content = content
        self.systemCall = systemCall
        self.blocking = blocking
    }
}

/// One thread's time since its previous sample, charged to the stack that it had at the end. A thread's slices
/// tile its life: each starts where the previous one ended.
package struct Slice: Hashable, Sendable {
    package var thread: ThreadIndex
    package var start: MonotonicTime
    package var times: StateTimes
    /// nil if there is none: before `exec`, or if ``truncation`` is `lost`, `unreadable` or `notSampled`.
    package var stack: StackID?
    /// The number of the system call that the thread was blocked in at the end; nil if it
    /// was not blocked, -1 if it was blocked outside a system call (a page fault).
    package var systemCall: Int32?
    /// nil if the stack is complete, or if there was none to take (before `exec`).
    package var truncation: Truncation?

    package init(
        thread: ThreadIndex, start: MonotonicTime, times: StateTimes, stack: StackID?,
        systemCall: Int32? = nil, truncation: Truncation? = nil
    ) {
        self.thread = thread
        self.start = start
        self.times = times
        self.stack = stack
        self.systemCall = systemCall
        self.truncation = truncation
    }

    package var end: MonotonicTime { start + times.wall }
}

/// A copy of an interpreter's list of a thread's frames at one moment, by a ``FrameListLayout``.
/// Not trusted: it comes from the profiled program's memory.
package struct RuntimeCopy: Hashable, Sendable {
    /// The address of the thread's state.
    package var thread: UInt64
    /// The thread's id in the state; nil: the state has none.
    package var threadID: UInt64?
    /// The state's pointer to the newest frame, or to the structure that leads to it.
    package var newest: UInt64
    /// The addresses of the frames, newest first.
    package var addresses: [UInt64]
    /// Their records, ``FrameListLayout/recordSize`` bytes each.
    package var records: [UInt8]
    /// The identities of the frames' codes, as many as could be read, newest first.
    package var identities: [UInt8]
    /// The address of the next frame; 0: there is none.
    package var rest: UInt64
    /// True if newer frames are missing, and the position of the first copied frame in its code is
    /// unknown.
    package var lacksNewest = false

    package init(
        thread: UInt64, threadID: UInt64?, newest: UInt64, addresses: [UInt64] = [],
        records: [UInt8] = [], identities: [UInt8] = [], rest: UInt64 = 0
    ) {
        (self.thread, self.threadID, self.newest) = (thread, threadID, newest)
        (self.addresses, self.records, self.identities) = (addresses, records, identities)
        self.rest = rest
    }

    /// The size of all that was copied, in bytes.
    package var byteCount: Int { 8 * addresses.count + records.count + identities.count }
}
