package import Architecture

/// A thread's stack at one moment: enough to unwind it later, elsewhere.
package struct Snapshot: Sendable {
    package var registers: Registers
    /// From the stack pointer upwards, as far as it was copied.
    package var stack: StackCopy
    /// The stack that a signal handler interrupted, if the handler runs on another one.
    package var interrupted: StackCopy?
    /// The thread's position and the return addresses in the kernel, innermost first, as the kernel
    /// reported them: what ``registers`` called. Empty: it was in its own code, or this is unknown.
    package var kernelChain: [UInt64]
    /// The interpreter's frames, for a thread that runs an interpreter's code. nil: it does not, or
    /// they could not be read.
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

/// A slice from the sampler, whose stack must still be unwound.
package struct Sample: Sendable {
    package enum Content: Sendable {
        case snapshot(Snapshot)
        /// The thread has not moved since its last sample.
        case unchanged
        /// It ran, and was not looked at meanwhile. Its stack is that of its next sample while it
        /// runs, which stands for all CPU time since the previous one.
        case following
        /// There is no stack, and none was expected (before `exec`).
        case none
        /// There should have been a stack.
        case missing(Truncation)
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

/// A line of `/proc/PID/maps` that backs code.
package struct CodeMapping: Hashable, Sendable {
    /// The mapping of our own code in the program: its frames are not shown.
    package static let ownPath = "/memfd:firstlight (deleted)"

    package var start: UInt64
    package var end: UInt64
    /// The offset of the range's begin in the file, in bytes.
    package var fileOffset: UInt64
    /// Empty for anonymous memory (JIT code); `[vdso]` for the kernel's.
    package var path: String
    package var inode: UInt64
    /// The file's GNU build id, if known when the mapping was seen; a file with another one is not
    /// the mapped file. Empty: unknown; then ``inode`` decides.
    package var buildID: [UInt8]

    package func contains(_ address: UInt64) -> Bool { start <= address && address < end }

    /// True if it is memory that is in no folder. It may hold code that was made at run time, or a
    /// program or library that was put there.
    package var isMemory: Bool {
        path.isEmpty
            || ["[anon:", "//anon", "/memfd:", "/dev/zero", "/anon_hugepage"].contains {
                path.hasPrefix($0)
            }
    }

    /// True if it is kernel code, which all processes share.
    package var isKernel: Bool { Module.isKernel(path) }

    package init(
        start: UInt64, end: UInt64, fileOffset: UInt64, path: String, inode: UInt64,
        buildID: [UInt8] = []
    ) {
        self.start = start
        self.end = end
        self.fileOffset = fileOffset
        self.path = path
        self.inode = inode
        self.buildID = buildID
    }
}
