package import ProfileModel

/// What perf wrote down of one moment.
package struct PerfRecord: Sendable {
    /// On the clock that was chosen for the recording (usually one of perf's own that begins at
    /// boot); nil for what holds from the beginning.
    package var time: MonotonicTime?
    package var body: Body

    package enum Body: Sendable {
        case mapping(PerfMapping)
        /// A new name of a thread; with `isExec` because it executed another program.
        case name(pid: Int32, tid: Int32, name: String, isExec: Bool)
        /// A new process or, where `pid` and `parent` are the same, thread.
        case fork(pid: Int32, parent: Int32, tid: Int32, parentThread: Int32)
        /// A thread's end.
        case exit(pid: Int32, tid: Int32)
        case sample(PerfSample)
        /// Records that the kernel had no room for.
        case lost(count: UInt64)
        /// A thread came to a core, or left it: `isPushed`: because of other work.
        case arrived(pid: Int32, tid: Int32, cpu: UInt32?)
        case left(pid: Int32, tid: Int32, cpu: UInt32?, isPushed: Bool)
        /// The kernel left samples out, because they took too long.
        case throttled
        case buildID(PerfBuildID)
    }

    package init(time: MonotonicTime?, body: Body) {
        self.time = time
        self.body = body
    }

    /// Roughly what it takes of the memory, in bytes.
    var size: Int {
        guard case .sample(let sample) = body else { return 256 }
        return 512 + (sample.snapshot?.byteCount ?? 0) + sample.callchain.count * 8
            + sample.raw.count
    }
}

/// A part of a file that became part of a process's memory.
package struct PerfMapping: Hashable, Sendable {
    /// -1: of the kernel.
    package var pid: Int32
    package var start: UInt64
    /// Behind its last byte.
    package var end: UInt64
    /// Where in the file it begins, in bytes.
    package var fileOffset: UInt64
    /// `[vdso]`, `//anon` and `[kernel.kallsyms]…` are no files.
    package var path: String
    /// 0: not known.
    package var inode: UInt64
    /// Empty: not known.
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

/// The build id of a file, as perf found it when it had recorded.
package struct PerfBuildID: Hashable, Sendable {
    package var path: String
    package var buildID: [UInt8]
    package var isKernel: Bool
}

/// What one thread did at one moment.
package struct PerfSample: Sendable {
    /// Position in ``PerfFile/events``.
    package var event: Int
    package var pid: Int32
    package var tid: Int32
    /// Where it was, in the kernel or the program.
    package var instruction: UInt64
    package var isKernel: Bool
    /// nil: not recorded.
    package var cpu: UInt32?
    /// For how many of its event it stands.
    package var period: UInt64
    /// The program's registers and stack, also where the thread was in the kernel; nil: not
    /// recorded, or there are none (a thread of the kernel's), or the program is a 32-bit one.
    package var snapshot: Snapshot?
    /// As the kernel followed the frame pointers, innermost first, with the kernel's markers
    /// between the parts; empty: not recorded.
    package var callchain: [UInt64]
    /// A tracepoint's fields.
    package var raw: [UInt8]

    /// The part of ``callchain`` that is the program's: where it was, and the return addresses.
    package var userCallchain: [UInt64] { part(of: Self.userMarker) }

    /// The part of ``callchain`` that is the kernel's. Of a sample without call chains, where in the
    /// kernel the thread was.
    package var kernelCallchain: [UInt64] {
        if callchain.isEmpty, snapshot == nil { return isKernel ? [instruction] : [] }
        return part(of: Self.kernelMarker)
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
