import MadeRecordings
import ProfileModel
import Testing

@testable import Analysis
@testable import Report

/// Findings and notes in sentences.
@Suite struct FindingTextTests {
    private typealias Spot = RecordingBuilder.Spot

    /// A profile with one stack, and a finding in its innermost function.
    private let profile: Profile
    private let stack: [FrameID]

    init() throws {
        var builder = RecordingBuilder(images: [("/home/dev/app", 0)])
        builder.border(.spawned, 0)
        builder.border(.ended, 1000)
        let main = builder.thread("app", tid: 7, to: 1000, isMain: true)
        _ = builder.thread("worker", tid: 8, from: 100, to: 1000)
        let path = [
            Spot("_start"), Spot("main", file: "/src/main.c", line: 3),
            Spot("load", file: "/src/load.c", line: 21),
            Spot("read", "/usr/lib/libc.so.6"),
        ]
        builder.wait(main, from: 100, to: 400, WaitReason(.file), builder.stack(path))
        profile = Profile(builder.recording)
        stack = profile.stack(of: try #require(profile.waits.first))
    }

    private func words(
        _ subject: Finding.Subject, thread: Int = 0, saving: TimeSpan = .milliseconds(300)
    ) -> FindingWords {
        FindingWords(
            profile: profile,
            finding: Finding(
                subject: subject, saving: saving, thread: thread,
                range: .milliseconds(100)..<(.milliseconds(400)), place: stack[2], stack: stack))
    }

    private func wait(
        _ kind: Finding.Kind, count: Int = 1, _ things: [String] = [], _ other: Counterpart? = nil
    ) -> FindingWords {
        words(.wait(WaitEvidence(kind: kind, count: count, things: things, counterpart: other)))
    }

    private func counterpart(
        _ basis: Counterpart.Basis = .owner, lower: Bool = false
    ) -> Counterpart {
        let low = PriorityFigures(thread: 1, time: .zero, policy: 0, nice: 19, realTime: 0)
        let high = PriorityFigures(thread: 0, time: .zero, policy: 1, nice: 0, realTime: 50)
        return Counterpart(
            thread: 1, basis: basis,
            times: StateTimes(
                running: .milliseconds(100), runnable: .milliseconds(50),
                preempted: .milliseconds(130), blocked: .milliseconds(20)),
            stack: Array(stack.prefix(2)), place: stack[1],
            lowerPriority: lower ? .init(own: low, waiting: high) : nil)
    }

    @Test func places() {
        #expect(wait(.sleep).place == "load load.c:21 ← main main.c:3 ← _start")
    }

    @Test(
        arguments: [
            (.sleep, 2, [], "main thread sleeps in load ← main"),
            (.sleep, 1, ["nanosleep 5 ms"], "main thread sleeps in load ← main (nanosleep 5 ms)"),
            (
                .sleep, 1, ["2 descriptors: eventfd, pipe, time-out after 399 ms"],
                "main thread sleeps in load ← main until a timer (399 ms)"
            ),
            (
                .sleep, 3, ["1 descriptor: pipe, time-out after 2 s"],
                "main thread sleeps in load ← main until a timer (3 times 2 s)"
            ),
            (
                .sleep, 2,
                ["1 descriptor, time-out after 2 s", "2 descriptors, time-out after 1 s"],
                "main thread sleeps in load ← main until a timer"
            ),
            (
                .sleep, 1, ["condition variable, time-out after 2 s"],
                "main thread sleeps in load ← main (condition variable, time-out after 2 s)"
            ),
            (
                .networkWait, 1, ["1 descriptor: socket 10.0.0.2:53, time-out after 5 s"],
                "main thread waits in load ← main for the network, which does not answer in time"
            ),
            (.fileWait, 1, ["/etc/x"], "main thread waits in load ← main for a file"),
            (.fileWait, 2, ["/etc/x"], "main thread waits in load ← main for files"),
            (.networkWait, 1, [], "main thread waits in load ← main for the network"),
            (.pipeWait, 1, [], "main thread waits in load ← main for a pipe"),
            (.pollWait, 1, [], "main thread waits in load ← main for events"),
            (.diskWait, 1, [], "main thread waits in load ← main for pages from the disk"),
            (.lockWait, 1, [], "main thread waits in load ← main for a lock"),
            (.threadWait, 1, [], "main thread waits in load ← main for another thread"),
            (.childWait, 1, [], "main thread waits in load ← main for a child"),
            (
                .childWait, 5, ["git log", "ls"],
                "main thread waits in load ← main for children (git log, ls)"
            ),
        ] as [(Finding.Kind, Int, [String], String)])
    func waits(kind: Finding.Kind, count: Int, things: [String], title: String) {
        #expect(wait(kind, count: count, things).title == title)
    }

    @Test func timersAreTheProgramsOwn() {
        let timer = wait(.sleep, ["1 descriptor: pipe, time-out after 2 s"])
        #expect(timer.advice?.contains("setTimeout") == true)
        #expect(timer.details == ["1 descriptor: pipe, time-out after 2 s"])
        #expect(wait(.sleep, ["nanosleep 5 ms"]).advice?.contains("setTimeout") == false)
    }

    @Test func theLockOfTheInterpreter() {
        let words = wait(.lockWait, ["GIL"])
        #expect(
            words.title == "main thread waits in load ← main for Python's interpreter lock (GIL)")
        #expect(words.details.isEmpty)
        #expect(words.advice?.contains("multiprocessing") == true)
    }

    @Test func theLockOfTheAddressSpace() {
        let words = wait(.lockWait, ["address space"])
        #expect(
            words.title == "main thread waits in load ← main for the lock of the process's memory")
        #expect(words.details.isEmpty)
        #expect(words.advice?.contains("M_TRIM_THRESHOLD") == true)
        #expect(wait(.threadWait, ["page fault"]).details.isEmpty)
    }

    @Test func theAwaitedThingIsNamed() {
        #expect(wait(.fileWait, ["/etc/x"]).details == ["/etc/x"])
        #expect(
            wait(.fileWait, count: 1200, ["/a", "/b", "/c", "/d", "/e"]).details
                == ["1,200 waits: /a, /b, /c and 2 more"])
        #expect(wait(.sleep, count: 2).details == ["2 waits"])
        // An address on a stack has no meaning for users.
        #expect(wait(.threadWait, ["semaphore at 0x7ffc4fec1f48"]).details == ["semaphore"])
        #expect(wait(.lockWait, ["mutex queue"]).details == ["mutex queue"])
        // Nor does the call's name.
        #expect(wait(.threadWait, ["futex"]).details.isEmpty)
    }

    /// Those that took longest come first, each with its time.
    @Test func commandsAndTheirTimes() {
        let evidence = WaitEvidence(
            kind: .childWait, count: 3, things: ["ls", "git log"], counterpart: nil,
            lengths: [.milliseconds(20), .milliseconds(180)])
        let found = words(.wait(evidence))
        #expect(found.title.hasSuffix("for children (git log, ls)"))
        #expect(found.details == ["3 waits: git log 180.0 ms, ls 20.0 ms"])
    }

    /// Advice for other cases is left out: a program that writes and syncs does not read too much.
    @Test func adviceOnSyncs() {
        var words = wait(.fileWait)
        #expect(words.advice?.contains("Read less") == true)
        var builder = RecordingBuilder(images: [("/home/dev/app", 2)])
        let main = builder.thread("app", tid: 7, to: 1000, isMain: true)
        let path = [Spot("main"), Spot("commit"), Spot("fdatasync", "/usr/lib/libc.so.6")]
        builder.wait(main, from: 100, to: 400, WaitReason(.file), builder.stack(path))
        let profile = Profile(builder.recording)
        let stack = profile.waits.first.map { profile.stack(of: $0) } ?? []
        #expect(stack.count == 3)
        var finding = words.finding
        finding.stack = stack
        words = FindingWords(profile: profile, finding: finding)
        #expect(words.advice?.contains("one transaction") == true)
    }

    /// Not the main thread's own.
    @Test func anAwaitedThreadIsNamed() {
        let words = words(
            .wait(WaitEvidence(kind: .sleep, count: 1, things: [])), thread: 1)
        #expect(words.title.hasPrefix("thread worker (8), which the launch waits for, sleeps in"))
    }

    @Test func adviceFitsOrIsLeftOut() {
        #expect(wait(.pollWait).advice == nil)
        #expect(wait(.threadWait).advice == nil)
        #expect(wait(.pipeWait).advice?.contains("--follow-children") == true)
        #expect(wait(.childWait).advice?.contains("library") == true)
        // It is 300 of 1,000 ms: the launch is not as long as that thread's work.
        let join = WaitEvidence(
            kind: .threadWait, count: 1, things: ["end of a thread at 0x7f0012"],
            counterpart: counterpart())
        #expect(words(.wait(join)).advice?.contains("as long as that thread's work") == false)
        let most = words(.wait(join), saving: .milliseconds(500)).advice
        #expect(most?.contains("as long as that thread's work") == true)
        #expect(most != wait(.threadWait, ["semaphore"], counterpart()).advice)
    }

    /// A shell starts programs: that is what scripts are for.
    @Test func adviceForScripts() throws {
        var builder = RecordingBuilder(images: [("/bin/sh", 0)])
        builder.border(.spawned, 0)
        builder.border(.ended, 1000)
        let main = builder.thread("sh", tid: 7, to: 1000, isMain: true)
        builder.wait(
            main, from: 100, to: 400, WaitReason(.child, detail: "make"), call: 61,
            builder.stack("main", "waitforjob"))
        let profile = Profile(builder.recording)
        let finding = try #require(profile.findings().first)
        let advice = FindingWords(profile: profile, finding: finding).advice
        #expect(advice?.contains("--follow-children") == true)
        #expect(advice?.contains("library") == false)
    }

    /// Too little for a finding, and too much for an interpreter that only starts.
    @Test(arguments: [
        ("ruby3.1", Int64(300), true), ("ruby3.1", 99, false), ("gzip", 300, false),
    ])
    func aScriptWithoutFindings(program: String, cpu: Int64, isTold: Bool) {
        var builder = RecordingBuilder(images: [("/usr/bin/" + program, 0)])
        builder.border(.spawned, 0)
        builder.border(.ended, 1000)
        let main = builder.thread(program, tid: 7, to: 1000, isMain: true)
        builder.slice(main, at: 10, running: cpu, builder.stack("main", "rb_find_file_ext"))
        let answer = Answer(Profile(builder.recording))
        #expect(answer.findings.isEmpty)
        #expect(answer.composition(nil).contains("stackprof or rbspy has them.") == isTold)
    }

    /// A shell, and a program that looks again and again whether its child is over.
    private func starter(_ name: String, _ reason: WaitReason.Kind, in function: String) throws
        -> (advice: String?, next: [String])
    {
        var builder = RecordingBuilder(images: [("/usr/bin/" + name, 0)])
        builder.border(.spawned, 0)
        builder.border(.ended, 1000)
        let main = builder.thread(name, tid: 7, to: 1000, isMain: true)
        let stack = builder.stack("main", function)
        builder.slice(main, at: 100, blocked: 700, stack)
        builder.wait(main, from: 100, to: 800, WaitReason(reason), stack)
        var recording = builder.recording
        recording.notes = [RecorderNote(.unrecordedChildren, 308)]
        let profile = Profile(recording)
        let finding = try #require(profile.findings().first)
        return (
            FindingWords(profile: profile, finding: finding).advice,
            NextSteps(profile: profile, file: nil).steps.map(\.command)
        )
    }

    @Test(arguments: [
        ("bash", WaitReason.Kind.pipe, "command_substitute", "Each $(…) starts"),
        ("bash", .pipe, "read_builtin", "See what writes to it"),
        ("vim", .pipe, "command_substitute", "See what writes to it"),
        ("vim", .sleep, "mch_delay", "for a child: --follow-children"),
    ])
    func processesThatWereNotRecorded(
        program: String, reason: WaitReason.Kind, function: String, words: String
    ) throws {
        let (advice, next) = try starter(program, reason, in: function)
        #expect(advice?.contains(words) == true, "\(advice ?? "none")")
        #expect(next.first?.hasPrefix("firstlight record --follow-children") == true)
    }

    /// Python calls it so in each file.
    @Test func theTopLevelOfAScript() {
        var builder = RecordingBuilder(images: [("/usr/bin/python3", 0)])
        builder.border(.spawned, 0)
        builder.border(.ended, 1000)
        let main = builder.thread("python3", tid: 7, to: 1000, isMain: true)
        let runtime = "[runtime:Python 3.11.2]"
        let path = [Spot("<module>", runtime, file: "/home/dev/app.py", line: 3)]
        builder.slice(main, at: 10, running: 700, builder.stack(path))
        let profile = Profile(builder.recording)
        let titles = profile.findings().map {
            FindingWords(profile: profile, finding: $0).title
        }
        #expect(titles == ["the top level of app.py computes on the main thread"])
    }

    @Test func counterparts() {
        let did =
            "meanwhile worker (8) was 100.0 ms running, 180.0 ms without a core, 20.0 ms blocked, "
            + "in main main.c:3 ← _start"
        let held = wait(.lockWait, [], counterpart())
        #expect(
            held.title
                == "main thread waits in load ← main for a lock that is held by thread worker (8), "
                + "in main")
        #expect(held.details == [did])
        let presumed = wait(.threadWait, [], counterpart(.presumed, lower: true))
        #expect(
            presumed.title
                == "main thread waits in load ← main for thread worker (8) of lower priority "
                + "(nice 19, against fifo 50), in main")
        #expect(presumed.details.first == did)
        #expect(presumed.details.last?.contains("presumably") == true)
        #expect(presumed.advice != wait(.threadWait, [], counterpart()).advice)
    }

    @Test func priorityInversions() {
        let other = counterpart(lower: true)
        let evidence = WaitEvidence(kind: .lockWait, count: 1, things: [], counterpart: other)
        let found = words(.priorityInversion(evidence, other), thread: 1)
        #expect(
            found.title
                == "priority inversion: thread worker (8) waits in load ← main for a lock that is "
                + "held by thread worker (8) of lower priority (nice 19, against fifo 50), in main"
        )
        #expect(
            found.details.first
                == "the other thread had no core for 180.0 ms of 300.0 ms")
    }

    @Test func imports() {
        let unused = words(
            .unusedImport(
                ImportEvidence(module: "frames", cpu: .milliseconds(290), used: ["arrays"])))
        #expect(
            unused.title == "import frames: none of its functions was seen to run afterwards")
        #expect(
            unused.details == [
                "290.0 ms of it CPU, including what it imported",
                "not counted, because it was seen to run: arrays",
            ])
        // The importer, whichever module it belongs to.
        #expect(unused.place == "load load.c:21 ← main main.c:3 ← _start")
        let repeated = words(
            .repeatedImports(RepeatedImportEvidence(modules: ["faster"], count: 12)))
        #expect(repeated.title == "load imports faster again and again")
        #expect(
            repeated.details == ["seen importing 12 times, with other work in between"])
        let cached = words(.repeatedImports(RepeatedImportEvidence(modules: [], count: 12)))
        #expect(cached.title == "load imports again and again")
        #expect(cached.advice != repeated.advice)
    }

    @Test func bytecode() {
        var evidence = CompilationEvidence(
            modules: ["a", "b", "c", "d"], wasWritten: false, isDisabled: false)
        let usual = words(.uncachedBytecode(evidence))
        #expect(
            usual.title
                == "imports compile 4 modules, whose bytecode was not found: a, b, c and 1 more")
        evidence.wasWritten = true
        #expect(
            words(.uncachedBytecode(evidence)).details
                == ["it was seen being written: the next launch may find it"])
        evidence.isDisabled = true
        let disabled = words(.uncachedBytecode(evidence))
        #expect(disabled.details == ["the interpreter was told to write no bytecode (-B)"])
        #expect(disabled.advice != usual.advice)
    }

    @Test func initialisers() {
        var evidence = InitializerEvidence(
            wall: .milliseconds(310), cpu: .milliseconds(300), module: "liblog.so",
            file: "/src/log.cpp", line: 9, isUnused: true)
        let unused = words(.initializer(evidence))
        #expect(unused.title == "static initialiser of liblog.so: load")
        #expect(
            unused.details == [
                "the initialiser (log.cpp:9) took 300.0 ms of CPU, 310.0 ms of wall time",
                "nothing of liblog.so was seen in use afterwards",
            ])
        (evidence.isUnused, evidence.file, evidence.line) = (false, nil, nil)
        let used = words(.initializer(evidence))
        #expect(
            used.details == ["the initialiser took 300.0 ms of CPU, 310.0 ms of wall time"])
        #expect(used.advice != unused.advice)
    }

    /// The thread that the main one waits for waits itself: its own wait is the one to look at.
    @Test func aThreadThatWaitsForAChild() {
        var other = counterpart()
        other.child = "ls (12)"
        let words = wait(.threadWait, [], other)
        #expect(words.title.hasSuffix(", which waits for a child (ls (12))"), "\(words.title)")
        #expect(
            words.advice
                == "Call a library instead, remember the result, or let it run beside the launch.")
    }

    @Test func libraries() {
        let paths = ["/a/libone.so", "/a/libtwo.so"]
        let some = words(.dlopen(LoadingEvidence(paths: paths, unused: [paths[1]])))
        #expect(some.title == "main thread loads libone.so, libtwo.so (dlopen) in load")
        #expect(some.details == ["not seen in use afterwards: libtwo.so"])
        #expect(words(.dlopen(LoadingEvidence(paths: paths, unused: []))).details.isEmpty)
        let unused = words(.unusedLibrary(paths[0], isLinkedForNothing: false))
        #expect(unused.title == "libone.so is loaded and initialised, but was not seen in use")
        #expect(unused.details.isEmpty && unused.advice?.contains("dlopen") == true)
        let idle = words(.unusedLibrary(paths[0], isLinkedForNothing: true))
        #expect(idle.details == ["no other loaded file refers to its symbols"])
        #expect(idle.advice?.contains("--as-needed") == true)
    }

    @Test func work() {
        let work = words(.mainThreadWork(withoutCore: .milliseconds(290)))
        #expect(work.title == "load computes on the main thread")
        #expect(work.details == ["besides, it had no core for 290.0 ms"])
        #expect(words(.mainThreadWork(withoutCore: .milliseconds(1))).details.isEmpty)
        #expect(
            words(.unoptimizedBuild(functions: 2)).title
                == "code that was compiled without optimisation: 2 functions, the heaviest load")
        #expect(words(.debugLibrary("libasan.so.8")).title.hasPrefix("libasan.so.8, "))
    }

    @Test(arguments: [
        ("perl", "Perl"), ("perl5.36", "Perl"), ("libperl.so.5.36", "Perl"), ("ruby3.1", "Ruby"),
        ("libruby-3.1.so.3.1", "Ruby"), ("zsh", "zsh"), ("zsh-5.9", "zsh"), ("php8.2", "PHP"),
        ("libguile-3.0.so.1", "Guile"), ("libR.so", "R"), ("perldoc", nil), ("R", "R"),
        ("Rscript", nil), ("", nil),
        ("emacs-nox", "Emacs Lisp"), ("emacs", "Emacs Lisp"), ("emacsclient", nil),
        ("rubyist", nil), ("libc.so.6", nil), ("9", nil),
    ])
    func languagesWithAProfilerOfTheirOwn(module: String, language: String?) {
        #expect(UnnamedLanguage(module: module)?.name == language)
    }

    /// An interpreter's own functions tell the script's author nothing.
    @Test func workOfAnInterpreter() throws {
        var builder = RecordingBuilder(images: [("/usr/bin/perl", 0)])
        builder.border(.spawned, 0)
        builder.border(.ended, 1000)
        let main = builder.thread("perl", tid: 7, to: 1000, isMain: true)
        let path = ["main", "Perl_call_sv"].map { Spot($0, "/usr/bin/perl") }
        builder.slice(main, at: 10, running: 700, builder.stack(path))
        let profile = Profile(builder.recording)
        let found = profile.findings().first { $0.kind == .mainThreadWork }
        let advice = FindingWords(profile: profile, finding: try #require(found)).advice
        #expect(advice?.hasPrefix("Perl runs") == true && advice?.contains("NYTProf") == true)
        let own = words(.mainThreadWork(withoutCore: .zero)).advice
        #expect(own?.contains("another thread") == true)
    }

    /// Where the functions of scripts have names, no other profiler is needed.
    @Test func namedFunctionsNeedNoOtherProfiler() throws {
        var builder = RecordingBuilder(images: [("/usr/bin/node", 0)])
        builder.border(.spawned, 0)
        builder.border(.ended, 1000)
        let main = builder.thread("node", tid: 7, to: 1000, isMain: true)
        builder.slice(main, at: 10, running: 700, builder.stack([Spot("main", "/usr/bin/node")]))
        let unnamed = Profile(builder.recording)
        #expect(UnnamedLanguage(module: "node", in: unnamed)?.name == "JavaScript")
        let runtime = "[runtime:Python 3.11.2]"
        let script = builder.stack([Spot("load", runtime, file: "/home/dev/app.py", line: 1)])
        builder.slice(main, at: 800, running: 1, script)
        #expect(UnnamedLanguage(module: "node", in: Profile(builder.recording)) == nil)
    }

    @Test func notes() throws {
        #expect(
            MeasurementNote.profilerOverhead(held: .milliseconds(20), share: 0.05).text
                == "the profiler slowed this launch: it stopped threads for 20.0 ms (5.0 % of "
                + "their busy time)")
        var builder = RecordingBuilder()
        builder.border(.spawned, 0)
        builder.border(.ended, 1000)
        builder.recording.notes = [
            RecorderNote(.busyElsewhere, 412), RecorderNote(.stolen, 30),
            RecorderNote(.diskPressure, 200), RecorderNote(.corePressure, 500),
        ]
        let busy = try #require(Profile(builder.recording).measurementNotes().first)
        #expect(busy.kind == "busy_machine")
        #expect(
            busy.text
                == "the machine was busy: other processes had 41.2 % of all cores, the hypervisor took "
                + "3.0 %, other processes waited for storage 20.0 % of the time, some thread waited "
                + "for a core 50.0 % of the time; its waits may be longer than usual")
        #expect(
            busy.brief
                == "the machine was busy: other processes had 41.2 % of all cores; its waits may be "
                + "longer than usual")
    }

    /// Names come from files that anyone may have made.
    @Test func nothingReachesTheTerminal() {
        var builder = RecordingBuilder(images: [("/home/dev/app", 0)])
        builder.border(.spawned, 0)
        builder.border(.ended, 1000)
        let main = builder.thread("a\u{1b}[31m", tid: 7, to: 1000, isMain: true)
        builder.wait(
            main, from: 100, to: 400, WaitReason(.file, detail: "/x\u{1b}[2J\ny"),
            builder.stack("f\u{1b}[0m"))
        let text = TextReport.render(Profile(builder.recording), view: .findings)
        #expect(text.contains("1 finding,"))
        #expect(!text.contains("\u{1b}"))
    }
}
