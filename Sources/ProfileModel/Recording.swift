/// What was observed of one launch, before symbolication: the value that the recording file
/// stores and that every analysis starts from. Threads, and all that is told of them, are those of
/// the recorded process and of its ``children``; images, marks and readiness are the recorded
/// process's own.
package struct Recording: Sendable {
    package var header: Header
    /// At most one of each kind.
    package var notes: [RecorderNote]
    /// In the order of their starts: a parent comes before its children.
    package var children: [ChildProcess]
    package var images: [Image]
    package var marks: [Mark]
    package var threads: [RecordedThread]
    package var modules: [Module]
    package var mappings: [Mapping]
    package var stacks: StackTable
    package var slices: [Slice]
    /// In the order of their loading.
    package var libraries: [LibraryLoad]
    /// As they were told of: one within another's time comes before it.
    package var initializers: [InitializerRun]
    package var intervals: [Interval]
    package var signposts: [Signpost]
    /// nil: nothing was waited for, or it did not come.
    package var ready: Readiness?
    /// Those that lasted for ``Wait/shortest`` at least, each thread's in order.
    package var waits: [Wait]
    /// Without gaps but where the scheduler's own account is not known: ``Header/account``.
    package var runs: ScheduledRuns
    /// Each thread's in order, as far as the scheduler's own account tells of them.
    package var wakeups: [Wakeup]
    /// In the order of their times: each thread's first, and every change that was seen.
    package var priorities: [Priority]
    /// What symbolication found when the recording was made (or since), so that it stays
    /// readable on another machine. Empty: not symbolicated yet.
    package var symbols: SymbolTable

    package init(header: Header) {
        self.header = header
        notes = []
        children = []
        images = []
        marks = []
        threads = []
        modules = []
        mappings = []
        stacks = StackTable()
        slices = []
        libraries = []
        initializers = []
        intervals = []
        signposts = []
        waits = []
        runs = ScheduledRuns()
        wakeups = []
        priorities = []
        symbols = SymbolTable()
    }

    package struct Header: Hashable, Sendable {
        package var pid: Int32
        package var isAttached: Bool
        package var capture: CaptureMethod
        /// Requested ticks a second.
        package var frequency: Int32
        /// Ticks that the recorder served, those that it slept through (they cost resolution,
        /// never time), and by how much the served ones were late in all.
        package var ticks: Int64 = 0
        package var missedTicks: Int64 = 0
        package var lateness = TimeSpan.zero
        /// Stacks that were dropped because the recorder was behind; their time is kept.
        package var lostSamples: Int64 = 0
        /// How long threads were held by the profiler's stops, summed over threads.
        package var heldByProfiler = TimeSpan.zero
        package var outcome: Outcome = .unknown
        /// nil: it could not be had, or the recording was cut short.
        package var account: SchedulerAccount?
        /// The recorder's version, e.g. "0.1.0".
        package var recorderVersion = ""
        /// What an imported recording was made with, for people: "cpu-clock at 999 Hz,
        /// --call-graph dwarf". Empty: it is our own.
        package var importSource = ""

        package init(pid: Int32, isAttached: Bool, capture: CaptureMethod, frequency: Int32) {
            self.pid = pid
            self.isAttached = isAttached
            self.capture = capture
            self.frequency = frequency
        }
    }

    /// How the recorded process ended, as far as the recording saw it.
    package enum Outcome: Hashable, Sendable {
        case exited(Int32)
        case signalled(Int32)
        /// Recording ended while the program ran on.
        case running
        /// The recording was cut short (the recorder was killed).
        case unknown
    }
}

/// How stacks were captured.
package enum CaptureMethod: String, Sendable, CaseIterable {
    case signal
    case ptrace
    /// By the kernel's events, of all processes of a tree.
    case event
    /// By `perf record`, and imported.
    case perf

    /// What a recording of our own can be asked for.
    package static let ownMethods: [CaptureMethod] = [.signal, .ptrace]
}

/// A program that the process ran: one for each `exec`, in order. An attached recording has one.
package struct Image: Hashable, Sendable {
    /// The path by which it was started, where that leads to the file that ran; else the file's.
    package var path: String
    package var arguments: [String]
    /// When its first instruction was about to run (for an attached recording: the attach).
    package var time: MonotonicTime

    package init(path: String, arguments: [String], time: MonotonicTime) {
        self.path = path
        self.arguments = arguments
        self.time = time
    }

    /// The name that people know it by, in titles and phases: the last part of its path. Where
    /// the path is not known, that of `argv[0]` (login shells are called with a leading `-`).
    package var name: Substring {
        if let name = path.split(separator: "/").last { return name }
        let called = arguments.first?.split(separator: "/").last ?? ""
        return called.hasPrefix("-") ? called.dropFirst() : called
    }
}

/// A moment at which one phase ends and another begins. The raw values are stored.
package struct Mark: Hashable, Sendable {
    package enum Kind: UInt8, Sendable, CaseIterable {
        /// The recorder asked for the process.
        case spawned = 1
        /// First instruction after an `execve`; one for each entry of `images`.
        case firstInstruction = 2
        /// Every library is mapped and relocated; constructors follow.
        case relocated = 3
        /// `main` was entered (or the entry point, where there is no recognisable `main`).
        case main = 4
        /// The recorder attached to the running process.
        case attached = 5
        /// The recording ended: exit, detach, or end of `--duration`.
        case ended = 6
        /// From here on the recorder kept every thread of the program from running.
        case held = 7
        /// Up to here.
        case released = 8
    }

    package var kind: Kind
    package var time: MonotonicTime
    package var counters: ProcessCounters

    package init(kind: Kind, time: MonotonicTime, counters: ProcessCounters = ProcessCounters()) {
        self.kind = kind
        self.time = time
        self.counters = counters
    }
}

/// The process's totals at a mark (`/proc/PID/stat` and `/proc/PID/io`); nil where unreadable.
package struct ProcessCounters: Hashable, Sendable {
    package var minorFaults: Int64?
    package var majorFaults: Int64?
    /// Bytes fetched from storage (`read_bytes`), not those served by the page cache.
    package var readBytes: Int64?

    package init(minorFaults: Int64? = nil, majorFaults: Int64? = nil, readBytes: Int64? = nil) {
        self.minorFaults = minorFaults
        self.majorFaults = majorFaults
        self.readBytes = readBytes
    }
}

/// A thread of a recorded process.
package struct RecordedThread: Hashable, Sendable {
    /// Of which child; nil: of the recorded process.
    package var child: ChildIndex?
    package var tid: Int32
    package var name: String
    package var start: MonotonicTime
    /// When it exited, or the recording's end; nil if the recording was cut short.
    package var end: MonotonicTime?
    /// Whether it is the thread that runs its process's `main` (its id is the process's).
    package var isMain: Bool

    package init(
        tid: Int32, name: String, start: MonotonicTime, end: MonotonicTime? = nil, isMain: Bool,
        child: ChildIndex? = nil
    ) {
        self.child = child
        self.tid = tid
        self.name = name
        self.start = start
        self.end = end
        self.isMain = isMain
    }
}
