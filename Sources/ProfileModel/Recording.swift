/// The data of one launch, before symbolication: the content of a recording's file, and the basis
/// of every analysis. Threads and all facts about them belong to the recorded process and its
/// ``children``. Images, borders and readiness are the recorded process's own.
package struct Recording: Sendable {
    package var header: Header
    /// At most one of each kind.
    package var notes: [RecorderNote]
    /// In the order of their starts: a parent comes before its children.
    package var children: [ChildProcess]
    package var images: [Image]
    package var borders: [LaunchBorder]
    package var threads: [RecordedThread]
    package var modules: [Module]
    package var mappings: [Mapping]
    package var stacks: StackTable
    package var slices: [Slice]
    /// In the order of their loading.
    package var libraries: [LibraryLoad]
    /// In the order in which they were reported: one that ran inside another comes first.
    package var initializers: [InitializerRun]
    package var intervals: [Interval]
    package var signposts: [Signpost]
    /// nil: no condition was given, or none was met.
    package var ready: Readiness?
    /// Those that lasted at least ``Wait/shortest``, in order for each thread.
    package var waits: [Wait]
    /// Without gaps, except where the scheduler's own account is unknown: ``Header/account``.
    package var runs: ScheduledRuns
    /// In order for each thread, as far as the scheduler's own account has them.
    package var wakeups: [Wakeup]
    /// In the order of their times: each thread's first priority, and every change that was seen.
    package var priorities: [Priority]
    /// The results of symbolication when the recording was made (or later), so that it stays
    /// readable on another machine. Empty: not symbolicated yet.
    package var symbols: SymbolTable

    package init(header: Header) {
        self.header = header
        notes = []
        children = []
        images = []
        borders = []
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
        /// Requested ticks per second.
        package var frequency: Int32
        /// Ticks that the recorder served, ticks that it missed because it had no core, and the
        /// total lateness of the served ones.
        package var ticks: Int64 = 0
        package var missedTicks: Int64 = 0
        package var lateness = TimeSpan.zero
        /// Stacks of running threads that were taken, and those that were due besides: one is due
        /// for each interval of CPU time. Missing ones cost resolution, never time.
        package var samples: Int64 = 0
        package var missedSamples: Int64 = 0
        /// Stacks that were dropped because the recorder was behind; their time is kept.
        package var lostSamples: Int64 = 0
        /// How long threads were held by the profiler's stops, summed over threads.
        package var heldByProfiler = TimeSpan.zero
        package var outcome: Outcome = .unknown
        /// nil: not available, or the recording was cut short.
        package var account: SchedulerAccount?
        /// The recorder's version, e.g. "0.1.0".
        package var recorderVersion = ""
        /// How an imported recording was made, for people: "cpu-clock at 999 Hz, --call-graph
        /// dwarf". Empty: it is not imported.
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
    /// By the kernel's events where these are available, by a timer's signal where they are not
    /// sufficient, and by signals elsewhere.
    case untraced = "signal"
    /// By stops.
    case ptrace
    /// By the kernel's events, for all processes of a tree.
    case tree = "event"
    /// By `perf record`, and imported.
    case perf

    /// The methods that a user can choose.
    package static let ownMethods: [CaptureMethod] = [.untraced, .ptrace]
}

/// A program that the process ran: one for each `exec`, in order. An attached recording has one.
package struct Image: Hashable, Sendable {
    /// The path by which it was started, if it leads to the file that ran; else the file's path.
    package var path: String
    package var arguments: [String]
    /// When its first instruction was about to run (for an attached recording: the attach).
    package var time: MonotonicTime

    package init(path: String, arguments: [String], time: MonotonicTime) {
        self.path = path
        self.arguments = arguments
        self.time = time
    }

    /// The usual name, for titles and phases: the last part of its path. If the path is unknown,
    /// the name in `argv[0]` (without the leading `-` of login shells).
    package var name: Substring {
        if let name = path.split(separator: "/").last {
            // The kernel adds " (deleted)" to the path of a removed file, and of a file that exists
            // only in memory.
            let memory = "memfd:", deleted = " (deleted)"
            guard name.hasSuffix(deleted), name.utf8.count > deleted.utf8.count else { return name }
            // A program executed from memory has the name that was given to the memory.
            let isMemory = path.hasPrefix("/\(memory)") && name.hasPrefix(memory)
            return name.dropFirst(isMemory ? memory.count : 0).dropLast(deleted.count)
        }
        let called = arguments.first?.split(separator: "/").last ?? ""
        return called.hasPrefix("-") ? called.dropFirst() : called
    }
}

/// A moment at which one phase of the launch ends and another begins, or at which the recorder
/// began or ceased to hold the program. The table `marks` stores them, with these raw values.
/// Places requested by `--mark` are something else: ``MarkRequest``.
package struct LaunchBorder: Hashable, Sendable {
    package enum Kind: UInt8, Sendable, CaseIterable {
        /// The recorder requested the process.
        case spawned = 1
        /// First instruction after an `execve`; one for each entry of `images`.
        case firstInstruction = 2
        /// Every library is mapped and relocated; constructors follow.
        case relocated = 3
        /// `main` was entered; if a program (Go) has no start code of a C library, the program's
        /// entry.
        case main = 4
        /// The recorder attached to the running process; or found an image that was running
        /// already, in place of ``firstInstruction``.
        case attached = 5
        /// The recording ended: exit, detach, or end of `--duration`.
        case ended = 6
        /// From here on the recorder kept every thread of the program from running.
        case held = 7
        /// The end of the held span.
        case released = 8
        /// From here on, the next border of a launch (``relocated`` or ``main``) is recorded when
        /// it is reached. If it is missing, the launch did not reach it.
        case watched = 9
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

/// The process's totals at a border (`/proc/PID/stat` and `/proc/PID/io`); nil if unreadable.
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
    /// The child that it belongs to; nil: the recorded process.
    package var child: ChildIndex?
    package var tid: Int32
    package var name: String
    package var start: MonotonicTime
    /// When it exited, or the recording's end; nil if the recording was cut short.
    package var end: MonotonicTime?
    /// True for the thread that runs its process's `main` (its id is the process's).
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

/// The meaning of an address: one function at one place in the source.
package struct SourceFrame: Hashable, Sendable {
    /// Demangled. nil if no symbol of the module covers the address.
    package var function: String?
    /// The path in the debug information; nil if there is none.
    package var file: String?
    /// 1-based; nil if there is no line information.
    package var line: Int32?
    /// True if the compiler inlined this function into the next frame outward.
    package var isInlined: Bool
    /// True if the debug information says that the compiler did not optimise its unit; false if it
    /// did, or if this is unknown.
    package var isUnoptimized: Bool
    /// The linker's name for the function, if it differs from `function`; nil if it is the same or
    /// unknown.
    package var linkageName: String?

    package init(
        function: String?, file: String?, line: Int32?, isInlined: Bool,
        isUnoptimized: Bool = false, linkageName: String? = nil
    ) {
        self.function = function
        self.file = file
        self.line = line
        self.isInlined = isInlined
        self.isUnoptimized = isUnoptimized
        self.linkageName = linkageName
    }
}

/// The answers of symbolication, by frame address.
package struct SymbolTable: Sendable {
    /// Outermost first: the physical function, then the functions inlined into it. Never empty.
    package var frames: [FrameAddress: [SourceFrame]] = [:]
    package var modules: [ModuleIndex: ModuleSymbols] = [:]

    package init() {}
}

/// The scheduler's reports about a recording's threads. Each thread's runs are in order and without
/// overlap, even if added runs are not.
package struct ScheduledRuns: Hashable, Sendable {
    private var lists: [ThreadIndex: ThreadRuns] = [:]

    package init() {}

    package init(_ runs: some Sequence<ScheduledRun>) {
        for run in runs { append(run) }
    }

    package var isEmpty: Bool { lists.isEmpty }

    package subscript(thread: ThreadIndex) -> ThreadRuns { lists[thread] ?? ThreadRuns() }

    /// Adds a run after the other runs of its thread. If it begins before they end, only the rest
    /// is added; an empty run is ignored.
    package mutating func append(_ run: ScheduledRun) {
        guard run.start < run.end else { return }
        lists[run.thread, default: ThreadRuns()].append(run)
    }

    /// The same for runs that all belong to one thread.
    package mutating func append(_ runs: [ScheduledRun], of thread: ThreadIndex) {
        guard runs.contains(where: { $0.start < $0.end }) else { return }
        lists[thread, default: ThreadRuns()].append(contentsOf: runs)
    }

    /// The same runs on another clock.
    ///
    /// - Parameter move: must keep the order of moments.
    package mutating func moveTimes(_ move: (MonotonicTime) -> MonotonicTime) {
        for thread in lists.keys { lists[thread]?.moveTimes(move) }
        lists = lists.filter { !$0.value.isEmpty }
    }

    /// The runs of some threads, with new indices.
    ///
    /// - Parameter place: gives a thread's new index; nil: the thread is left out.
    package func of(_ place: (ThreadIndex) -> ThreadIndex?) -> ScheduledRuns {
        var result = ScheduledRuns()
        for (thread, list) in lists {
            if let other = place(thread) { result.lists[other] = list }
        }
        return result
    }
}

/// Thread by thread.
extension ScheduledRuns: Sequence {
    package func makeIterator() -> some IteratorProtocol<ScheduledRun> {
        lists.sorted { $0.key < $1.key }.lazy.flatMap { thread, list in
            list.lazy.compactMap { stretch in
                stretch.state.map { state in
                    ScheduledRun(
                        thread: thread, start: stretch.start, end: stretch.end, state: state,
                        core: stretch.core)
                }
            }
        }.makeIterator()
    }
}
