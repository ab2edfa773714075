package import ProfileModel

/// An event that perf recorded at one moment.
package struct PerfRecord: Sendable {
    /// On the clock that was chosen for the recording (usually perf's own, which begins at boot);
    /// nil if the record applies from the beginning.
    package var time: MonotonicTime?
    package var body: Body

    package enum Body: Sendable {
        case mapping(PerfMapping)
        /// A thread's new name; `isExec` if the thread got it by executing another program.
        case name(pid: Int32, tid: Int32, name: String, isExec: Bool)
        /// A new process, or, if `pid` and `parent` are the same, a new thread.
        case fork(pid: Int32, parent: Int32, tid: Int32, parentThread: Int32)
        /// A thread's end.
        case exit(pid: Int32, tid: Int32)
        case sample(PerfSample)
        /// Records that the kernel had no room for. With `isSum` the count is that of a whole event: perf writes
        /// it at the end, besides the others.
        case lost(count: UInt64, isSum: Bool)
        /// A thread came to a core, or left it; `isPushed`: because of other work.
        case arrived(pid: Int32, tid: Int32, cpu: UInt32?)
        case left(pid: Int32, tid: Int32, cpu: UInt32?, isPushed: Bool)
        /// The kernel left out samples because they took too long.
        case throttled
        case buildID(PerfBuildID)
    }

    package init(time: MonotonicTime?, body: Body) {
        self.time = time
        self.body = body
    }

    /// Its approximate size in memory, in bytes.
    var size: Int {
        guard case .sample(let sample) = body else { return 256 }
        return 512 + (sample.snapshot?.byteCount ?? 0) + sample.callchain.count * 8
            + sample.raw.count
    }
}

/// A part of a file that was mapped into a process.
package struct PerfMapping: Hashable, Sendable {
    /// -1: mapped by the kernel.
    package var pid: Int32
    package var start: UInt64
    /// One past its last byte.
    package var end: UInt64
    /// The offset in the file, in bytes.
    package var fileOffset: UInt64
    /// `[vdso]`, `//anon` and `[kernel.kallsyms]…` are not files.
    package var path: String
    /// 0: unknown.
    package var inode: UInt64
    /// Empty: unknown.
    package var buildID: [UInt8]
    package var isExecutable: Bool
    package var isKernel: Bool

    package init(
        pid: Int32, start: UInt64, end: UInt64, fileOffset: UInt64, path: String,
        inode: UInt64 = 0, buildID: [UInt8] = [], isExecutable: Bool = true,
        isKernel: Bool = false
    ) {
        self.pid = pid
        self.start = start
        self.end = end
        self.fileOffset = fileOffset
        self.path = path
        self.inode = inode
        self.buildID = buildID
        self.isExecutable = isExecutable
        self.isKernel = isKernel
    }
}

/// The build id of a file, which perf looked up after recording.
package struct PerfBuildID: Hashable, Sendable {
    package var path: String
    package var buildID: [UInt8]
    package var isKernel: Bool
}

/// The state of one thread at one moment.
package struct PerfSample: Sendable {
    /// Position in ``PerfFile/events``.
    package var event: Int
    package var pid: Int32
    package var tid: Int32
    /// The thread's position, in the kernel or the program.
    package var instruction: UInt64
    package var isKernel: Bool
    /// nil: not recorded.
    package var cpu: UInt32?
    /// The number of events that the sample represents.
    package var period: UInt64
    /// The program's registers and stack, even if the thread was in the kernel. nil: not recorded,
    /// there are none (a kernel thread), or the program is a 32-bit one.
    package var snapshot: Snapshot?
    /// The kernel's frame pointer chain, innermost first, with the kernel's markers between the
    /// parts; empty: not recorded.
    package var callchain: [UInt64]
    /// A tracepoint's fields.
    package var raw: [UInt8]
    /// The counts of its event's group, if the group's leader alone is sampled (`:S`).
    package var counts: [Count] = []

    package struct Count: Hashable, Sendable {
        /// As in ``PerfEvent/ids``.
        package var id: UInt64
        package var value: UInt64

        package init(id: UInt64, value: UInt64) {
            (self.id, self.value) = (id, value)
        }
    }

    /// The program's part of ``callchain``: its position, and the return addresses.
    package var userCallchain: [UInt64] { part(of: Self.userMarker) }

    /// The kernel's part of ``callchain``. Where it was not recorded: the thread's position in the kernel.
    package var kernelCallchain: [UInt64] {
        let chain = part(of: Self.kernelMarker)
        return chain.isEmpty && isKernel ? [instruction] : chain
    }

    private func part(of marker: UInt64) -> [UInt64] {
        var result: [UInt64] = []
        var isWanted = false
        for entry in callchain {
            if entry >= Self.firstMarker {
                isWanted = entry == marker
            } else if isWanted {
                result.append(entry)
            }
        }
        return result
    }

    /// `PERF_CONTEXT_MAX`, `PERF_CONTEXT_KERNEL` and `PERF_CONTEXT_USER`.
    private static let firstMarker = UInt64(bitPattern: -4095)
    private static let kernelMarker = UInt64(bitPattern: -128)
    private static let userMarker = UInt64(bitPattern: -512)
}
