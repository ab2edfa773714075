import ProfileModel

/// The recorder's notes, one line each.
enum RecorderNotes {
    /// The important ones, with the names of their kinds.
    static func texts(_ notes: [RecorderNote]) -> [(kind: String, text: String)] {
        notes.compactMap { note in text(note).map { (note.kind.rawValue, $0) } }
    }

    /// nil if it is unimportant.
    static func text(_ note: RecorderNote) -> String? {
        switch note.kind {
        case .ownHandler: notBySignal("the program handles SIGURG and SIGWINCH itself")
        case .displaced: notBySignal("the program has set its own actions for SIGURG and SIGWINCH")
        case .filtered: notBySignal("the program uses or prepares a seccomp filter")
        case .noCallSite: notBySignal("the C library's rt_sigaction call was not found")
        case .occupied: notBySignal("another recorder is already in the program")
        case .noRoom: notBySignal("there is no room for our code near the program's")
        case .limited: notBySignal("a limit of the address space or of file sizes (ulimit -v, -f)")
        case .unmapped: notBySignal("memory could not be shared with the program")
        case .lateEntry: notBySignal("the recording ended before our code was in the program")
        case .shadowStack: notBySignal("the program has shadow stacks (x86 CET)")
        case .blockedSignal:
            notBySignal(note, "block SIGURG and SIGWINCH", one: "blocks SIGURG and SIGWINCH")
        case .unanswered: notBySignal(note, "did not answer", one: "did not answer")
        case .foreignStack:
            notBySignal(
                note, "have no room for a signal on their stacks",
                one: "has no room for a signal on its stack")
        case .slotsExhausted:
            notBySignal(
                note, "were too many to ask at once", one: "was one too many to ask at once")
        case .lateExec:
            Numbers.count(note.value, "exec")
                + " noticed some ticks late: the first moments afterwards are missing"
        case .leakSanitizer:
            "LeakSanitizer fails in a traced program: this one was not traced, stacks were taken by "
                + "signal, and children that it started were not followed"
        case .deniedPrivileges:
            Numbers.count(note.value, "program")
                + " executed without the privileges of its file (setuid, setgid or capabilities), "
                + "because it was recorded: record it as root"
        case .unrecordedPrivileges:
            Numbers.count(note.value, "program")
                + " executed with the privileges of its file (setuid, setgid or capabilities), "
                + "and not recorded, because recording would remove them: record it as root"
        case .spared:
            Numbers.count(note.value, "sample")
                + " skipped so that no system call was interrupted: what ran meanwhile is "
                + "[not sampled]"
        case .kernelUnsampled:
            "the kernel's events could not show system calls (kernel.perf_event_paranoid): their "
                + "time is shown where the thread went on"
        case .unseenCPU:
            note.value < leastUnseen
                ? nil
                : Numbers.time(TimeSpan(nanoseconds: note.value))
                    + " of CPU by threads that ended between two samples, not shown below"
        case .leftBehind:
            "our code could not be removed from the program; it no longer does anything"
        case .unknownLibraries:
            (note.value == 1 ? "a library" : "\(Numbers.grouped(note.value)) libraries")
                + " beyond the first ones not noted, in a launch that was over before its mappings "
                + "could be read: stacks may end in unmapped code"
        case .lostSignposts:
            Numbers.count(note.value, "signpost")
                + " lost because they came too fast: intervals may lack their ends"
        case .lostWaits:
            Numbers.count(note.value, "wait")
                + " left out of the events, because there were too many: no time is lost"
        case .lostSwitches:
            "the scheduler's account was lost "
                + (note.value == 1 ? "once" : Numbers.count(note.value, "time"))
                + ", for lack of room: what threads did then is known only from samples"
        case .unkeptRuns:
            Numbers.count(note.value, "run")
                + " and wake-ups of threads not kept, because there were too many: what threads "
                + "did from then on is known only from samples"
        case .unreadFrames:
            Numbers.count(note.value, "stack")
                + " of the interpreter without the functions that it ran: they could not be read"
        case .partlyReadFrames:
            Numbers.count(note.value, "stack")
                + " of the interpreter without the newest functions that it ran: they returned "
                + "before they could be read"
        case .unnamedFunctions:
            Numbers.count(note.value, "function")
                + " on the interpreter's stacks gone before they could be named"
        case .nodeOptions:
            "NODE_OPTIONS made Node list its functions (--runtime node), which changes the "
                + "program: each interpreted function has code of its own"
        case .unfollowedThreads:
            Numbers.count(note.value, "thread")
                + " not followed by the scheduler's account: known only from samples"
        case .unfollowedChildren:
            "children beyond the first 100,000 are not followed: "
                + Numbers.grouped(note.value) + " are not shown"
        case .lostNews:
            Numbers.count(note.value, "fork")
                + ", execs or ends of processes lost, for lack of room: processes may be missing"
        case .secondOpinions:
            Numbers.count(note.value, "stack") + " finished by libunwind, for which we had no rule"
        case .window:
            "only the last \(Numbers.time(TimeSpan(nanoseconds: note.value))) are kept (--last); "
                + "the counts in these notes cover the whole time that was recorded"
        case .libraryUnwinder: "stacks were unwound by libunwind (--unwinder libunwind)"
        case .unfollowedDisplay:
            Numbers.count(note.value, "connection")
                + " to the Wayland compositor could not be read any further: windows and frames may "
                + "have been missed"
        case .otherProcesses:
            Numbers.count(note.value, "sample") + " of other processes left out (import --pid)"
        case .otherEvents:
            Numbers.count(note.value, "sample")
                + " of other events left out: they do not measure time"
        case .lostRecords:
            Numbers.count(note.value, "record")
                + " lost when perf recorded, for lack of room: times are missing"
        case .throttled:
            "the kernel held samples back "
                + (note.value == 1 ? "once" : Numbers.count(note.value, "time"))
                + ", because they took too long: times are missing"
        case .assumedTimes:
            "the event is not a clock: each sample counts as "
                + Numbers.time(TimeSpan(nanoseconds: note.value)) + " of CPU"
        case .estimatedWaits:
            Numbers.count(note.value, "wait")
                + " whose end was not recorded: it was estimated by the next sample's CPU time"
        case .unverifiedStacks:
            Numbers.count(note.value, "stack")
                + " by frame pointers: it is not known whether they are complete"
        case .changedModules:
            Numbers.count(note.value, "module")
                + " gone or changed since perf recorded: not used"
        case .damagedInput:
            "the imported file is damaged at byte \(Numbers.grouped(note.value)): "
                + "only what comes before was imported"
        // They have a meaning only together; see `BusyMachine`.
        case .busyElsewhere, .stolen, .corePressure, .diskPressure: nil
        }
    }

    /// Below a millisecond, it belongs to the last moments of threads that are shown.
    private static let leastUnseen: Int64 = 1_000_000

    private static func notBySignal(_ reason: String) -> String {
        "stacks by the kernel's events or by stops instead of signals: " + reason
    }

    private static func notBySignal(_ note: RecorderNote, _ reason: String, one: String) -> String {
        "stacks by the kernel's events or by stops instead of signals for "
            + Numbers.count(note.value, "thread") + ": "
            + (note.value == 1 ? "it \(one)" : "they \(reason)")
    }
}
