import Exports
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
        case .filtered:
            notBySignal(
                "the program filters or dispatches its system calls (seccomp, user dispatch)")
        case .noCallSite: notBySignal("the C library's rt_sigaction call was not found")
        case .occupied: notBySignal("another recorder is already in the program")
        case .noRoom: notBySignal("there is no room for our code near the program's")
        case .limited: notBySignal("a limit of the address space or of file sizes (ulimit -v, -f)")
        case .unmapped: notBySignal("memory could not be shared with the program")
        case .unwritable: notBySignal("the program's code could not be changed")
        case .lateEntry: notBySignal("the recording ended before our code was in the program")
        case .otherClock: notBySignal("the program has a clock of its own (a time namespace)")
        case .shadowStack: notBySignal("the program has shadow stacks (x86 CET)")
        case .narrowProgram:
            (note.value == 1
                ? "a 32-bit program: its" : "\(Numbers.grouped(note.value)) 32-bit programs: their")
                + " functions are named, stacks are not unwound (callers are missing), and phases are "
                + "not divided"
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
                + " noticed late: the new program's first moments are missing"
        case .untimedLibraries:
            "\(Numbers.libraries(Int(clamping: note.value))) were loaded when there was no more room "
                + "for notes: their initialisers were not timed"
        case .neverReady: "the program ended before it was ready (--until)"
        case .leakSanitizer:
            "not traced, because LeakSanitizer fails then: children were not followed"
        case .unrecordedChildren:
            "the program started processes, which --follow-children records, too"
        case .deniedPrivileges:
            Numbers.count(note.value, "program")
                + " executed without the privileges of its file (setuid …): record it as root"
        case .unrecordedPrivileges:
            Numbers.count(note.value, "program")
                + " with the privileges of its file (setuid …) not recorded: record it as root"
        case .spared:
            Numbers.count(note.value, "sample")
                + " skipped so that no system call was interrupted: shown as [not sampled]"
        case .kernelUnsampled:
            "system calls not sampled (kernel.perf_event_paranoid): shown where the thread went on"
        case .unseenCPU:
            note.value < leastUnseen
                ? nil
                : Numbers.time(TimeSpan(nanoseconds: note.value))
                    + " of CPU not shown: at the process's end, or by threads too short-lived to sample"
        case .leftBehind:
            "our code could not be removed from the program, and does nothing"
        case .unknownLibraries:
            (note.value == 1 ? "a library" : "\(Numbers.grouped(note.value)) libraries")
                + " not noted in so short a launch: stacks may end in unmapped code"
        case .lostSignposts:
            Numbers.count(note.value, "signpost")
                + " lost because they came too fast: intervals may lack their ends"
        case .lostWaits:
            Numbers.count(note.value, "wait")
                + " left out of the events, because there were too many: times are exact"
        case .lostSwitches:
            "the scheduler's account was lost "
                + (note.value == 1 ? "once" : Numbers.count(note.value, "time"))
                + ": what threads did then is known only from samples"
        case .unkeptRuns:
            Numbers.count(note.value, "run")
                + " and wake-ups beyond the most not kept: later ones are known only from samples"
        case .unreadFrames:
            Numbers.count(note.value, "stack")
                + " without the interpreter's functions, which could not be read"
        case .partlyReadFrames:
            Numbers.count(note.value, "stack")
                + " without the interpreter's newest functions, which returned too soon"
        case .unnamedFunctions:
            Numbers.count(note.value, "function")
                + " of the interpreter without a name: gone too soon"
        case .nodeOptions:
            "--runtime node changed the program: each interpreted function has code of its own"
        case .unfollowedThreads:
            Numbers.count(note.value, "thread")
                + " not followed by the scheduler's account: known only from samples"
        case .unfollowedChildren:
            Numbers.grouped(note.value) + " children not shown: only the first 100,000 are followed"
        case .lostNews:
            Numbers.count(note.value, "fork")
                + ", execs or ends of processes lost: processes may be missing"
        case .secondOpinions:
            Numbers.count(note.value, "stack") + " finished by libunwind"
        case .window:
            "only the last \(Numbers.time(TimeSpan(nanoseconds: note.value))) are kept (--last); "
                + "counts in notes cover all that was recorded"
        case .libraryUnwinder: "stacks were unwound by libunwind (--unwinder libunwind)"
        case .unfollowedDisplay:
            Numbers.count(note.value, "connection")
                + " to the Wayland compositor read only in part: windows may have been missed"
        case .otherProcesses:
            Numbers.count(note.value, "sample") + " of other processes left out (import --pid)"
        case .otherEvents:
            Numbers.count(note.value, "sample")
                + " of other events left out: they do not measure time"
        case .lostRecords:
            Numbers.count(note.value, "record")
                + " lost when perf recorded: times are missing"
        case .throttled:
            "the kernel held samples back "
                + (note.value == 1 ? "once" : Numbers.count(note.value, "time"))
                + ": times are missing"
        case .assumedTimes:
            "the event is not a clock: each sample counts as "
                + Numbers.time(TimeSpan(nanoseconds: note.value)) + " of CPU"
        case .estimatedWaits:
            Numbers.count(note.value, "wait")
                + " without a recorded end: estimated by the next sample's CPU time"
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
        "stacks taken without signals: " + reason
    }

    private static func notBySignal(_ note: RecorderNote, _ reason: String, one: String) -> String {
        "stacks taken without signals for " + Numbers.count(note.value, "thread") + ": "
            + (note.value == 1 ? "it \(one)" : "they \(reason)")
    }
}
