package import ProfileModel

/// What became of something that was tried.
package enum Trial: Hashable, Sendable {
    case worked
    /// The kernel's error number.
    case refused(Int32)
    /// It gave something else than what was known to be there.
    case implausible
    /// A seccomp filter kills whoever tries.
    case fatal
    /// Something that it needs had failed before.
    case untried
}

/// What this machine and this user were found to allow. Found by trying where that is cheap and
/// harmless; only explanations are read from settings.
package struct SystemFacts: Hashable, Sendable {
    package var machine = MachineFacts()
    package var privileges = PrivilegeFacts()
    package var confinement = ConfinementFacts()
    package var tracing = TracingFacts()
    package var timer = TimerFacts()
    /// Memory that a program and the recorder share through a descriptor.
    package var sharedMemory = Trial.untried
    package var scheduling = SchedulingFacts()
    /// The path of the C library that is loaded here, as most programs will load it.
    package var libraryPath: String?

    package init() {}
}

/// The machine and the limits of this process on it.
package struct MachineFacts: Hashable, Sendable {
    /// As uname(2) has them: "x86_64", "6.1.0-18-amd64".
    package var architecture = ""
    package var kernelRelease = ""
    /// Cores that this process may use; 0: not known.
    package var cores = 0
    /// How many descriptors this process may allow itself; nil: without limit.
    package var openFiles: UInt64?

    package init() {}
}

/// Who asks, and what the system lets them do.
package struct PrivilegeFacts: Hashable, Sendable {
    /// The effective user.
    package var user: UInt32 = 0
    /// CAP_SYS_PTRACE, which overrules other users' ownership and Yama's scopes 1 and 2.
    package var mayTraceAnything = false
    /// `/proc/sys/kernel/yama/ptrace_scope`; nil: the kernel has no Yama.
    package var yamaScope: Int64?
    /// The process that traces this one (strace, a debugger); 0: none.
    package var ownTracer: Int64 = 0

    package init() {}
}

/// What this process is shut into.
package struct ConfinementFacts: Hashable, Sendable {
    /// The kind of container, as far as its traces tell: "Docker". Text from the outside.
    package var container: String?
    /// Whether the process ids that we see are not those of the whole machine; nil: not known.
    package var hasOwnProcessIDs: Bool?
    /// In how many nested namespaces `/proc` counts us: with more than one, the ids in `/proc` are
    /// not those that system calls take.
    package var namespaceDepth = 1
    /// Seccomp filters that watch our system calls, and the programs' that we start.
    package var seccompFilters: Int64 = 0

    package init() {}
}

/// What could be done with a child of our own, step by step, and from outside.
package struct TracingFacts: Hashable, Sendable {
    /// fork(2) itself.
    package var start = Trial.untried
    /// Seizing, stopping and reading the registers.
    package var control = Trial.untried
    /// process_vm_readv(2).
    package var memory = Trial.untried
    /// Files of `/proc` that recording reads, by name, in the order of trying.
    package var files: [File] = []
    /// A launch that was recorded.
    package var capture = Capture.untried
    /// Being traced by a process that is not our ancestor: what `attach` will do to others.
    package var fromOutside = Trial.untried

    package struct File: Hashable, Sendable {
        package var name: String
        package var trial: Trial

        package init(name: String, trial: Trial) {
            self.name = name
            self.trial = trial
        }
    }

    package enum Capture: Hashable, Sendable {
        case untried
        /// Why it could not be recorded.
        case failed(String)
        /// - Parameters:
        ///   - method: how stacks were taken.
        ///   - stacks: how many were.
        ///   - notesBorders: whether our code in the program told the launch's phases apart.
        ///   - obstacle: why stacks were not taken by signal.
        case ran(
            method: CaptureMethod, stacks: Int, notesBorders: Bool, obstacle: RecorderNote.Kind?)
    }

    package init() {}
}

/// What the kernel's scheduler tells of its own doing.
package struct SchedulingFacts: Hashable, Sendable {
    /// When the threads of a process of our own have a core.
    package var switches = Trial.untried
    /// Who wakes whom.
    package var wakeups = Wakeups.untried
    /// `/proc/sys/kernel/perf_event_paranoid`; nil: the kernel has no perf events.
    package var paranoia: Int64?

    package enum Wakeups: Hashable, Sendable {
        case untried
        case worked
        /// The kernel's error number.
        case refused(Int32)
        /// The tracepoints' formats in tracefs cannot be read.
        case unreadable
        case unknownFormat
        /// Tracepoints number threads as the whole machine does, and we do not.
        case foreignNumbers
    }

    package init() {}
}

/// How punctually a timer's signals arrive.
package struct TimerFacts: Hashable, Sendable {
    /// Why there is no timer, if there is none.
    package var start = Trial.untried
    /// The clock's own; nil: not known.
    package var resolution: TimeSpan?
    /// How late each of the ticks was that arrived, and how many came too late to be told apart.
    package var lateness: [TimeSpan] = []
    package var missed: Int64 = 0
    package static let interval = TimeSpan.milliseconds(1)

    package init() {}
}
