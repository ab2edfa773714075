package import ProfileModel

/// The result of an attempt.
package enum Trial: Hashable, Sendable {
    case worked
    /// The kernel's error number.
    case refused(Int32)
    /// The result contradicts the known state.
    case implausible
    /// A seccomp filter kills any process that tries.
    case fatal
    /// Something that the attempt needs had failed before.
    case untried
}

/// The things that this machine allows this user. Found by attempts where these are cheap and
/// harmless; only explanations are read from settings.
package struct SystemFacts: Hashable, Sendable {
    package var machine = MachineLimits()
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
package struct MachineLimits: Hashable, Sendable {
    /// As uname(2) has them; the release is like "6.1.0-18".
    package var architecture = ""
    package var kernelRelease = ""
    /// Cores that this process may use; 0: not known.
    package var cores = 0
    /// How many descriptors this process may have at most; nil: no limit.
    package var openFiles: UInt64?

    package init() {}
}

/// The user, and what the system allows them to do.
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

/// The limits around this process.
package struct ConfinementFacts: Hashable, Sendable {
    /// The kind of container, as far as known: "Docker". The text may come from outside.
    package var container: String?
    /// True if we see other process ids than the whole machine has; nil: unknown.
    package var hasOwnProcessIDs: Bool?
    /// In how many nested namespaces `/proc` counts us. If there are several, the ids in `/proc`
    /// are not those that system calls accept.
    package var namespaceDepth = 1
    /// Seccomp filters on our system calls and on those of the programs that we start.
    package var seccompFilters: Int64 = 0

    package init() {}
}

/// The things that we could do with a child of our own, step by step, and from outside.
package struct TracingFacts: Hashable, Sendable {
    /// fork(2) itself.
    package var start = Trial.untried
    /// Seizing, stopping and reading the registers.
    package var control = Trial.untried
    /// process_vm_readv(2).
    package var memory = Trial.untried
    /// Files of `/proc` that recording reads, in the order of the attempts.
    package var files: [File] = []
    /// A launch that was recorded.
    package var capture = Capture.untried
    /// Tracing by a process that is not an ancestor, as `attach` will do.
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
        ///   - stacks: how many were taken.
        ///   - notesBorders: true if our code in the program told the launch's phases apart.
        ///   - obstacle: why stacks were not taken by signal.
        case ran(
            method: CaptureMethod, stacks: Int, notesBorders: Bool, obstacle: RecorderNote.Kind?)
    }

    package init() {}
}

/// The kernel scheduler's reports.
package struct SchedulingFacts: Hashable, Sendable {
    /// When threads of our own process have a core.
    package var switches = Trial.untried
    /// Which thread wakes which.
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
        /// Tracepoints use the thread ids of the whole machine, but we see others.
        case foreignNumbers
    }

    package init() {}
}

/// How punctually a timer's signals arrive.
package struct TimerFacts: Hashable, Sendable {
    /// The result of starting the timer.
    package var start = Trial.untried
    /// The clock's resolution; nil: unknown.
    package var resolution: TimeSpan?
    /// The lateness of each tick that arrived, and how many ticks were too late to be counted
    /// separately.
    package var lateness: [TimeSpan] = []
    package var missed: Int64 = 0
    package static let interval = TimeSpan.milliseconds(1)

    package init() {}
}
