/// A note of the recorder about its own work: a deviation from the usual way, or something that it
/// could not observe. The raw values are stored.
package struct RecorderNote: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        // Reasons why stacks were taken by the kernel's events, or by stops, instead of by signal.
        // For the whole process:
        /// The program already handled the sampling signal itself before it could be sampled.
        case ownHandler = "own_handler"
        /// The program later set its own action for the sampling signal.
        case displaced
        /// A seccomp filter that is not ours, or the preparations for one.
        case filtered
        /// The C library's call that sets signal actions was not found.
        case noCallSite = "no_call_site"
        /// Another recorder's code is in the program.
        case occupied
        /// There is no place for our code near the program's.
        case noRoom = "no_room"
        /// A limit (address space, file size) forbids the shared memory.
        case limited
        /// The shared memory could not be made or mapped.
        case unmapped
        /// Neither our code in the program nor the recorder could change the program's code.
        case unwritable
        /// The recording ended before our code was in the program.
        case lateEntry = "late_entry"
        /// Its threads have shadow stacks, which forbid the way in which our code returns.
        case shadowStack = "shadow_stack"
        /// The program is in another time namespace, so its clocks differ from ours.
        case otherClock = "other_clock"
        // Similar reasons that concern some threads; `value` is their number:
        /// They block the sampling signal.
        case blockedSignal = "blocked_signal"
        /// They ran, but did not answer requests for samples.
        case unanswered
        /// They run on stacks that the program allocated itself, or near the end of their stacks.
        case foreignStack = "foreign_stack"
        /// There were more threads than slots.
        case slotsExhausted = "slots_exhausted"

        /// 32-bit programs (x32 included): our code is not in them, and their stacks are not unwound; how
        /// many.
        case narrowProgram = "32_bit"
        /// Execs that were noticed afterwards; `value` is how many.
        case lateExec = "late_exec"
        /// Programs with LeakSanitizer, which fails if threads are traced. So they were not traced,
        /// and their children not followed; how many.
        case leakSanitizer = "leak_sanitizer"
        /// The program started processes, which were not recorded; how many page faults those had that it
        /// waited for: every process has some.
        case unrecordedChildren = "unrecorded_children"
        /// Programs that started without the privileges of their files (setuid, setgid,
        /// capabilities), because their exec was traced; how many.
        case deniedPrivileges = "denied_privileges"
        /// Programs that started with the privileges of their files. A trace would have denied
        /// these, so the programs were not recorded; how many.
        case unrecordedPrivileges = "unrecorded_privileges"
        /// Threads whose stacks the kernel took only while they ran their own code, because the
        /// kernel may not report system calls. Time in the kernel counts as time of their own code.
        case kernelUnsampled = "kernel_unsampled"
        /// Samples that were skipped because they could have ended a system call early; how many.
        /// The time until then has no stack (``Truncation/notSampled``).
        case spared
        /// CPU time of the process that no thread's slices account for, in nanoseconds: from
        /// threads that lived between two ticks, and from the last moments of others.
        case unseenCPU = "unseen_cpu"
        /// The signal handler could not be removed when the recording ended; it does nothing now.
        case leftBehind = "left_behind"
        /// Libraries of a launch that ended before we could read its mappings, and for which our
        /// code had no room; how many.
        case unknownLibraries = "unknown_libraries"
        /// Libraries that were loaded when our code had no room left for records: their
        /// initialisers were not timed; how many.
        case untimedLibraries = "untimed_libraries"
        /// Signposts that were lost because the program emitted them too fast; how many.
        case lostSignposts = "lost_signposts"
        /// Waits that were not stored because there were too many; how many. Slices still have
        /// their times.
        case lostWaits = "lost_waits"
        /// How often the scheduler's account of a thread, or of all threads, was lost for a while,
        /// because the kernel or the recorder had no room.
        case lostSwitches = "lost_switches"
        /// Runs and wake-ups that were not stored because there were too many; how many.
        case unkeptRuns = "unkept_runs"
        /// Stacks that show an interpreter's own functions instead of the script's functions,
        /// because these could not be read consistently; how many.
        case unreadFrames = "unread_frames"
        /// The same for only the innermost of the script's functions.
        case partlyReadFrames = "partly_read_frames"
        /// Functions on an interpreter's stacks that were gone before their names could be read;
        /// how many.
        case unnamedFunctions = "unnamed_functions"
        /// Threads whose switches could not be followed; how many.
        case unfollowedThreads = "unfollowed_threads"
        /// Processes that the recorded one and its children started beyond the limit for following;
        /// how many.
        case unfollowedChildren = "unfollowed_children"
        /// Events of started processes (forks, execs, ends) that were lost because the kernel had
        /// no room; how many.
        case lostNews = "lost_news"
        /// Stacks that our own unwinder could not finish for lack of a rule, but libunwind could;
        /// how many.
        case secondOpinions = "second_opinions"
        /// Node got options to report where its functions are (`--runtime node`).
        case nodeOptions = "node_options"
        /// Only the last part was kept (`--last`); its length in nanoseconds. Counts and other
        /// notes cover the whole recorded time.
        case window
        /// All stacks were unwound by libunwind, as requested.
        case libraryUnwinder = "libunwind"
        /// The program ended before it was ready (`--until`).
        case neverReady = "never_ready"
        /// Connections to a Wayland compositor that could not be read up to the first frame; how many.
        case unfollowedDisplay = "unfollowed_display"

        // For an imported recording:
        /// Samples of other processes than the imported one; how many.
        case otherProcesses = "other_processes"
        /// Samples of other events than the one that measures time; how many.
        case otherEvents = "other_events"
        /// Records that the kernel had no room for when perf recorded; how many.
        case lostRecords = "lost_records"
        /// How often the kernel left out samples because they took too long.
        case throttled
        /// The event is not a clock: each sample counts as this many nanoseconds.
        case assumedTimes = "assumed_times"
        /// Waits whose ends were not recorded: their times follow from the samples' CPU time; how
        /// many.
        case estimatedWaits = "estimated_waits"
        /// Stacks that the kernel took by frame pointers: they may be incomplete; how many.
        case unverifiedStacks = "unverified_stacks"
        /// Modules whose files are missing or have changed since; how many.
        case changedModules = "changed_modules"
        /// The imported file is damaged from this byte on: the rest is missing.
        case damagedInput = "damaged_input"

        // Other load on the machine during the recording; `value` is in thousandths. Missing: none,
        // or unknown.
        /// CPU time of other processes, as a share of all cores' time.
        case busyElsewhere = "busy_elsewhere"
        /// CPU time that the hypervisor gave to other machines, as a share of all cores' time.
        case stolen
        /// Time in which any thread, the program's included, waited for a core, as a share of the
        /// recording.
        case corePressure = "core_pressure"
        /// The same for storage.
        case diskPressure = "disk_pressure"
    }

    package var kind: Kind
    package var value: Int64

    package init(_ kind: Kind, _ value: Int64 = 1) {
        self.kind = kind
        self.value = value
    }
}

extension [RecorderNote] {
    /// Together with other notes; values of the same kind are added up. Notes with value 0 are left
    /// out.
    package func adding(_ others: [RecorderNote]) -> [RecorderNote] {
        var result = self
        for other in others where other.value > 0 {
            if let known = result.firstIndex(where: { $0.kind == other.kind }) {
                let sum = result[known].value.addingReportingOverflow(other.value)
                result[known].value = sum.overflow ? .max : sum.partialValue
            } else {
                result.append(other)
            }
        }
        return result
    }
}
