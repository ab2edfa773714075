/// What the recorder has to say of its own work: where it had to do things differently, and what
/// it could not see. The raw values are stored.
package struct RecorderNote: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        // Why stacks were taken by the kernel's events, or by stops, where they should have been by
        // signal. Of the process:
        /// The program handles the sampling signal itself since before it could be sampled.
        case ownHandler = "own_handler"
        /// The program set an action of its own for the sampling signal, later.
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
        /// The recording was over before our code was in the program.
        case lateEntry = "late_entry"
        /// Its threads have shadow stacks, by which our way back is no return.
        case shadowStack = "shadow_stack"
        // The same, of some threads; `value` is how many:
        /// They block the sampling signal.
        case blockedSignal = "blocked_signal"
        /// They ran, but their requests were not answered.
        case unanswered
        /// They run on stacks of the program's own making, or near the end of theirs.
        case foreignStack = "foreign_stack"
        /// There were more threads than slots.
        case slotsExhausted = "slots_exhausted"

        /// An exec that was noticed after the fact; `value` is how many.
        case lateExec = "late_exec"
        /// Programs with LeakSanitizer, which fails where threads are traced: they were not, nor
        /// were their children followed; how many.
        case leakSanitizer = "leak_sanitizer"
        /// Programs that an exec began without the privileges of their files (setuid, setgid,
        /// capabilities), because it was traced; how many.
        case deniedPrivileges = "denied_privileges"
        /// Programs that an exec began with the privileges of their files, which a trace would have
        /// denied them: they were not recorded; how many.
        case unrecordedPrivileges = "unrecorded_privileges"
        /// Threads whose stacks the kernel took, but only where they ran their own code: it is not
        /// permitted to tell of system calls. What it left out counts as theirs.
        case kernelUnsampled = "kernel_unsampled"
        /// Looks that were left out, because they could have ended a call early; how many. The time until
        /// then has no stack (``Truncation/notSampled``).
        case spared
        /// CPU time of the process that no thread's slices account for, in nanoseconds: threads
        /// that lived between two looks, and the last moments of others.
        case unseenCPU = "unseen_cpu"
        /// The handler could not be taken back when the recording ended; it does nothing now.
        case leftBehind = "left_behind"
        /// Libraries of a launch that was over before anybody could read what it had mapped, beyond
        /// those that our code keeps of each; how many.
        case unknownLibraries = "unknown_libraries"
        /// Signposts for which there was no room: the program emitted them faster than they could
        /// be kept; how many.
        case lostSignposts = "lost_signposts"
        /// Waits that were not written down, because there were too many; how many. Slices have
        /// their times.
        case lostWaits = "lost_waits"
        /// Times at which the scheduler's account of a thread, or of all, was lost for a while: the
        /// kernel, or the recorder, had no room; how many.
        case lostSwitches = "lost_switches"
        /// Runs and wake-ups that were not kept, because there are too many; how many.
        case unkeptRuns = "unkept_runs"
        /// Stacks of an interpreter's that show its own functions in place of those that it ran, which
        /// could not be read consistently; how many.
        case unreadFrames = "unread_frames"
        /// The same of the newest ones that it ran.
        case partlyReadFrames = "partly_read_frames"
        /// Functions on an interpreter's stacks that were gone before they could be named; how many.
        case unnamedFunctions = "unnamed_functions"
        /// Threads whose switches could not be followed; how many.
        case unfollowedThreads = "unfollowed_threads"
        /// Processes that the recorded one and its children started beyond those that are followed;
        /// how many.
        case unfollowedChildren = "unfollowed_children"
        /// What happened to processes that were started (forks, execs, ends), and was not told, because
        /// the kernel had no room; how many.
        case lostNews = "lost_news"
        /// Stacks that our walk could not finish for want of a rule, and libunwind did; how many.
        case secondOpinions = "second_opinions"
        /// Node was asked, by its options, to say where its functions are (`--runtime node`).
        case nodeOptions = "node_options"
        /// Only the last stretch was kept (`--last`); how long it is, in nanoseconds. Counts and other
        /// notes are of all the time that was recorded.
        case window
        /// All stacks were unwound by libunwind, as was asked for.
        case libraryUnwinder = "libunwind"
        /// Connections to a Wayland compositor that could not be read up to the first frame; how many.
        case unfollowedDisplay = "unfollowed_display"

        // Of an imported recording:
        /// Samples of other processes than the one that was imported; how many.
        case otherProcesses = "other_processes"
        /// Samples of other events than the one that tells of time; how many.
        case otherEvents = "other_events"
        /// Records that the kernel had no room for when perf recorded; how many.
        case lostRecords = "lost_records"
        /// Times at which the kernel left samples out, because they took too long; how many.
        case throttled
        /// The event is no clock: each sample counts as so many nanoseconds.
        case assumedTimes = "assumed_times"
        /// Waits whose ends were not recorded: where they lie follows from the samples' CPU time;
        /// how many.
        case estimatedWaits = "estimated_waits"
        /// Stacks that the kernel took by frame pointers: nobody knows whether they are complete;
        /// how many.
        case unverifiedStacks = "unverified_stacks"
        /// Modules whose files are gone, or have changed since; how many.
        case changedModules = "changed_modules"
        /// The file that was imported is damaged from this byte on: what came later is missing.
        case damagedInput = "damaged_input"

        // What else the machine did during the recording; `value` is in thousandths. Missing:
        // none, or not known.
        /// CPU time of other processes, of all cores' time.
        case busyElsewhere = "busy_elsewhere"
        /// CPU time that the hypervisor gave to others, of all cores' time.
        case stolen
        /// Time in which somebody, the program included, waited for a core; of the recording.
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
    /// With others, which are added up with those of their kind. Those that say nothing are left out.
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
