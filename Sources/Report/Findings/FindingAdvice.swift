import Analysis
import ProfileModel

extension FindingWords {
    /// The usual remedy; nil: no advice fits every such case.
    var advice: String? {
        switch finding.subject {
        case .initializer(let initializer):
            initializer.isUnused
                ? "Initialise it when it is first used: this launch did not need it."
                : "Initialise it when it is first used, compute it at build time, or leave it to "
                    + "another thread."
        case .wait(let wait): advice(on: wait)
        case .shortWaits:
            "Wait less often: write much in one transaction, read much at once, let one program do the "
                + "work of many."
        case .deadlock:
            "Take the locks in the same order everywhere, or all at once (std::scoped_lock)."
        case .contendedLock:
            "Hold the lock for a shorter time, or divide what it protects."
        case .priorityInversion:
            "Give the other thread the priority of the one that waits (for a lock: use a mutex with "
                + "priority inheritance), and wait for no more than is needed."
        case .dominantProcess(let index):
            "Look at it alone: --process \(profile.processes[index].pid), or record its command by itself."
        case .processStarts(let started):
            heaviest(of: started).map {
                "\($0.name) computes most of it: look at one of them alone (--process PID), or run "
                    + "fewer."
            }
                ?? "Do in the script itself what needs no program, let one program do the work of many, "
                + "or keep their results."
        case .childrenInSequence:
            "If none needs another's result, start them all at once, and then wait for all."
        case .unawaitedProcess:
            "Start it when the launch is over, or give it a lower priority (nice)."
        case .dynamicLinking:
            "Link fewer libraries (--view libraries), or load what is seldom needed when it is (dlopen)."
        case .scriptLoading(let loader): advice(on: loader)
        case .dlopen(let loading):
            loading.unused.isEmpty
                ? "Load it when it is first needed, or earlier on another thread."
                : "Load what is not used when it is first needed."
        case .unusedLibrary(_, let isLinkedForNothing):
            isLinkedForNothing
                ? "Do not link it (--as-needed leaves it out), unless it is there for its "
                    + "initialisers."
                : "Load it when it is first needed (dlopen), or initialise it then."
        case .uncachedBytecode(let compiled):
            compiled.isDisabled
                ? "Leave out -B, or compile the modules when they are installed (python -m compileall)."
                : "If the next launch does it again: compile them when they are installed (python -m "
                    + "compileall), or see why __pycache__ is not written."
        case .unusedImport:
            "Import it in the function that needs it, unless the import itself has an effect that "
                + "is needed, or only its constants and classes are used."
        case .repeatedImports(let repeated):
            repeated.modules.isEmpty
                ? "Import once, at the module's top: each import statement asks for the module again."
                : "Import once, and remember if the module is missing: each attempt searches again."
        case .mainThreadWork: adviceOnWork
        case .unoptimizedBuild:
            "Measure an optimised build (-O2) before you change anything else."
        case .debugLibrary: "Measure without it: what it checks costs more than it shows."
        }
    }

    private func advice(on loader: ScriptLoader) -> String {
        switch loader {
        case .perl:
            "Load modules where they are needed (require in the function); perl -d:NYTProf tells which "
                + "take long."
        case .ruby:
            "Load files where they are needed (autoload, require in the method); stackprof or rbspy tell "
                + "which take long."
        case .emacsLisp:
            "Leave out what is not needed (emacs -Q, --no-site-file), and byte-compile the rest; "
                + "M-x profiler-start tells what takes long."
        case .bash:
            "PS4='+ $EPOCHREALTIME $BASH_SOURCE:$LINENO ' bash -x tells which lines take long; do there "
                + "only what every start needs."
        case .zsh:
            "zprof (zmodload zsh/zprof) tells what takes long; load the rest later (autoload)."
        case .r:
            "Leave out what is not needed (R --vanilla, R_DEFAULT_PACKAGES=NULL); Rprof tells what takes "
                + "long."
        }
    }

    private var adviceOnWork: String {
        let function = profile.frames.function(of: finding.place)
        guard !function.isOwn, let language = UnnamedLanguage(module: function.module, in: profile)
        else {
            return "Do only what the first picture or answer needs; the rest later, or on another "
                + "thread."
        }
        return language.hint
    }

    /// True if the finding overlaps a phase in which bytes came from storage.
    private var isCold: Bool {
        profile.wholePhases.contains {
            $0.isCold && $0.start < finding.range.upperBound && $0.end > finding.range.lowerBound
        }
    }

    private func advice(on wait: WaitEvidence) -> String? {
        switch wait.kind {
        case .sleep:
            wait.child == nil ? adviceOnSleep(wait) : adviceOnChildren
        case .fileWait:
            isForSync
                ? "Wait for the disk less often: put several changes into one transaction, or sync once "
                    + "at the end."
                : "Read less, read it later, or have it read ahead (posix_fadvise, another thread)."
        case .networkWait:
            "Become ready without the answer: ask on another thread, show what is there already."
        case .pipeWait: adviceOnPipe
        case .pollWait: nil
        case .childWait: adviceOnChildren
        case .diskWait:
            (isCold ? "A cold launch: touch" : "Touch")
                + " less code and data, or have it read ahead (readahead, posix_fadvise)."
        case .lockWait:
            isForAddressSpace(wait)
                ? "Map, unmap and start threads less often while others work: reuse memory, or have "
                    + "malloc keep it (M_TRIM_THRESHOLD, M_MMAP_THRESHOLD)."
                : isForInterpreter(wait)
                    ? "Have Python's other threads compute later, or in processes of their own "
                        + "(multiprocessing)."
                    : "Hold the lock for a shorter time, or avoid it on the main thread."
        default:
            wait.counterpart.flatMap {
                $0.child == nil ? advice(onThread: $0, wait) : adviceOnChildren
            }
        }
    }

    /// True if the program waits until written data is on the disk.
    private var isForSync: Bool {
        finding.stack.contains {
            Self.syncs.contains(profile.frames.function(of: $0).name)
        }
    }

    private static let syncs: Set<String> = [
        "fsync", "fdatasync", "msync", "sync", "syncfs", "sync_file_range",
    ]

    private func adviceOnSleep(_ wait: WaitEvidence) -> String {
        (isForTimer(wait)
            ? "Wait for what is needed, not for a timer (setTimeout, asyncio.sleep, time.Sleep)"
            : "Wait for what is needed, not for time to pass")
            + (profile.hasUnrecordedChildren ? "; for a child: --follow-children shows it." : ".")
    }

    private var adviceOnPipe: String? {
        if Self.shells.contains(profile.program.name), isInSubstitution {
            return "Each $(…) starts processes: use the shell's own ${x%…}, $((…)), read, or do it "
                + "once."
        }
        return isFollowed ? nil : "See what writes to it: --follow-children records that, too."
    }

    /// True if a shell waits for the output of a command substitution, `$(…)`.
    private var isInSubstitution: Bool {
        finding.stack.contains {
            Self.substitutions.contains(profile.frames.function(of: $0).name)
        }
    }

    /// The functions of bash, dash and zsh.
    private static let substitutions: Set<String> = [
        "command_substitute", "evalbackcmd", "expbackq", "getoutput", "readoutput",
    ]

    /// True if other processes were recorded, or if perf made the recording: perf does not say
    /// whether it followed children.
    private var isFollowed: Bool {
        profile.processes.count > 1 || profile.header.capture == .perf
    }

    /// A script's purpose is to start programs, so a script gets no such advice.
    private var adviceOnChildren: String? {
        guard Self.shells.contains(profile.program.name) else {
            return "Call a library instead, remember the result, or let it run beside the launch."
        }
        return isFollowed
            ? nil : "See what they did: --follow-children records them, too."
    }

    private static let shells: Set<String> = [
        "sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "busybox", "make",
    ]

    private func advice(onThread other: Counterpart, _ wait: WaitEvidence) -> String {
        let launch = profile.ready?.time ?? profile.launch.wall
        let isMost = finding.saving.nanoseconds * 2 >= launch.nanoseconds
        let isJoin = wait.things.contains { $0.hasPrefix("end of a thread") }
        let work =
            isJoin && isMost
            ? "The launch is as long as that thread's work: reduce it, or distribute it."
            : "Start that thread's work earlier, reduce it, or go on without its result."
        return other.lowerPriority == nil
            ? work
            : work + " And raise its priority: on a busy machine this becomes a priority inversion."
    }
}
