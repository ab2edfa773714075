import Agent
import CAgent
import Images
import ProcessIO
import ProfileModel

/// How a session begins: with a launch, an attach, or a fork; and how a process's next program does.
extension ProcessSession {
    /// A new process, stopped at its first instruction.
    func beginLaunch(_ process: StartedProcess) {
        isOurChild = true
        tree = process.tree
        let action: UInt64 = process.ignoresSampleSignal ? 1 : 0
        stage.expect(
            NextImage(
                area: process.area, knownAction: process.area == nil ? nil : action,
                sites: process.sites))
        // First of all, for it stands; what there is to tell of it can wait.
        let entry = enterImage(by: process.main, at: process.firstInstruction)
        let used = TimeSpan(nanoseconds: process.main.clock.counters.run)
        ledger.began(SessionLedger.ProcessCPU(own: used, children: .zero))
        scheduler.begin(process.schedule)
        let spawned = process.main.clock.time
        sink.receive(.border(LaunchBorder(kind: .spawned, time: spawned)))
        add(process.main, start: spawned)
        if let entry { announce(entry, of: process.main, known: process.image) }
        takePostponed()
    }

    /// Begins to follow a running process. If stacks are taken by signal, a thread is traced only
    /// when it must be stopped. Otherwise all threads are traced at once, and those that they start
    /// meanwhile.
    ///
    /// - Parameter permitted: called as soon as we know that we may observe the process.
    func beginAttached(permitted: () -> Void) throws(SystemError) {
        capture = firstCapture
        let isSpared = sparesLeakSanitizer(of: ImageStart(pid: pid))
        let isTraced = capture != .signal
        let main = process.thread(pid)
        if isTraced {
            try main.seize(followingChildren: tracesChildren)
        } else {
            // The kernel asks for the same permission.
            try process.checkPermission()
        }
        // Before anybody is told: once it has ended, nobody can say what it was.
        let first = process.image(at: process.now)
        permitted()
        if options.asksScheduler {
            scheduler.begin(
                SchedulerReader(
                    pid: pid, threads: process.threadIDs(),
                    followsChildren: options.followsChildren))
        }
        let now = process.now
        ledger.began(process.cpu)
        if process.childrenFaults > 0 { looksForChildren = Self.enoughLooks }
        // It may have become another program since.
        var description = process.image(at: now)
        if description.path.isEmpty {
            (description.path, description.arguments) = (first.path, first.arguments)
        }
        let image = RunningImage(
            start: now, path: description.path, arguments: description.arguments)
        image.mayBeTraced = !isSpared
        noteIfNarrow()
        stage.begin(image, isToBeJoined: !isTraced && !observer.isNarrow)
        sink.receive(.image(description))
        sink.receive(
            .border(LaunchBorder(kind: .attached, time: now, counters: process.counters())))
        observer.rereadMappings(at: now)
        listLibraries(ofAttached: image)
        addThread(main, start: now, isNew: false, isTraced: isTraced)
        if !isTraced { followFromOutside(image) }
        var hasNews = true
        while hasNews {
            hasNews = false
            for tid in process.threadIDs() where threads[tid] == nil {
                let thread = process.thread(tid)
                // A thread that is gone already, or that its parent's tracing brought along.
                if isTraced { try? thread.seize(followingChildren: tracesChildren) }
                addThread(thread, start: now, isNew: false, isTraced: isTraced)
                hasNews = true
            }
        }
    }

    /// A new image in the process; its first thread is stopped at its first instruction.
    ///
    /// - Parameter isLate: it was noticed after the fact, and is past that instruction.
    func beginImage(at now: MonotonicTime, isLate: Bool = false) {
        // While it stands: of a program that is over nobody can tell. (The first one would have been
        // refused.)
        if process.lacksPrivileges { note(.deniedPrivileges) }
        guard let main = threads[pid], let entry = enterImage(by: main, at: now, isLate: isLate)
        else { return }
        announce(entry, of: main)
        if isLate, main.tracing.isTraced {
            resume(main, stoppedSince: now)
        } else if isLate {
            followFromOutside(entry.image)
        }
        takePostponed()
    }

    /// Takes the event that came too soon, or before its image was announced.
    func takePostponed() {
        guard let event = postponed else { return }
        postponed = nil
        take(event, of: pid)
    }

    /// What is known of an image as soon as its first thread goes on.
    private struct ImageEntry {
        let image: RunningImage
        let stopped: MonotonicTime
        /// When the program's own first instruction was executed. Of a late image: when it was, as far
        /// as known.
        let began: MonotonicTime
        /// It was noticed after the fact: how far its launch is, nothing tells.
        let isLate: Bool
        /// The first thread's counters at that moment.
        let counters: SchedulerCounters?
        /// nil: it can be asked when the first thread goes on, because the program's end would be a
        /// stop.
        let program: Image?
        /// As ``ImageStart/beginsAtEntry`` of a static program.
        let beginsWithMain: Bool
    }

    /// - Returns: nil: the session is over.
    private func enterImage(
        by main: TracedThread, at now: MonotonicTime, isLate: Bool = false
    ) -> ImageEntry? {
        leaveImage()
        let next = stage.next
        capture = firstCapture
        let image = RunningImage(start: now)
        let start = isLate ? nil : ImageStart(pid: pid, isAtFirstInstruction: true)
        if let start { image.mayBeTraced = !sparesLeakSanitizer(of: start) }
        guard stage.begin(image, isToBeJoined: isLate && capture == .signal) else { return nil }
        if !isLate { main.tracing.wasSeized() }
        var counters = main.counters()
        let program = tree == nil ? nil : process.image(at: now)
        let began =
            start.map { enter(image, at: $0, next, by: main, at: now) } ?? next.executed ?? now
        // That clock is exact; the kernel's counters tell only of what has left its core.
        if !isLate, began != now, let area = image.instrumentation?.area, let known = counters?.run
        {
            let most = known.addingReportingOverflow((began - now).nanoseconds).partialValue
            counters?.run = min(max(area[\.settled_cpu_ns], known), max(known, most))
        }
        return ImageEntry(
            image: image, stopped: now, began: began, isLate: isLate, counters: counters,
            program: program,
            beginsWithMain: start.map { $0.isStatic && $0.beginsAtEntry } ?? false)
    }

    /// Whether the processes that it forks are traced. They are where no events describe them.
    var tracesChildren: Bool { options.followsChildren && tree?.news == nil }

    /// How an image's stacks are taken, unless something prevents that.
    private var firstCapture: CaptureMethod { tracesChildren ? .ptrace : options.capture }

    /// Whether to avoid tracing because of LeakSanitizer: a program with LeakSanitizer fails if it
    /// is traced. It is followed from outside instead. Its children are not followed, because that
    /// takes tracing.
    private func sparesLeakSanitizer(of start: @autoclosure () -> ImageStart) -> Bool {
        guard capture == .ptrace, start().program?.hasLeakSanitizer == true else { return false }
        note(.leakSanitizer)
        capture = .signal
        return true
    }

    /// - Parameter known: what is known of it without asking; nil: nothing.
    private func announce(_ entry: ImageEntry, of main: TracedThread, known: Image? = nil) {
        // Another thread may have executed the program, and has the first one's id now.
        scheduler.follow(pid)
        main.forgetHabits()
        main.noteOurStop()
        observer.restart()
        observer.closeWithoutStack(
            main, at: entry.isLate ? entry.stopped : entry.began, counters: entry.counters)
        noteHold(from: entry.stopped, to: entry.began)
        var description = entry.program ?? process.image(at: entry.began)
        if let known, description.path.isEmpty { description = known }
        description.time = entry.began
        entry.image.path = description.path
        entry.image.arguments = description.arguments
        sink.receive(.image(description))
        let opening = LaunchBorder(
            kind: entry.isLate ? .attached : .firstInstruction, time: entry.began,
            counters: process.counters())
        entry.image.opening = opening
        sink.receive(.border(opening))
        observer.rereadMappings(at: entry.began)
        learnProgram(of: entry.image, at: entry.began)
        if entry.beginsWithMain { report(.main, at: entry.began) }
        rename(main)
        awaitLibraries()
    }

    /// A process that an observed one forked. Until it executes a program, it runs the same one.
    ///
    /// - Parameters:
    ///   - parent: the process that it is a copy of; nil: not known.
    ///   - isScheduled: whether another session's account includes it.
    ///   - tree: takes its stacks; nil: stops do.
    func beginForked(
        off parent: ProcessSession?, by tree: TreeSamples?, at now: MonotonicTime, isScheduled: Bool
    ) {
        if options.asksScheduler, !isScheduled {
            scheduler.begin(SchedulerReader(ofChild: pid, threads: [pid]))
        }
        sink.receive(.began(pid: pid))
        self.tree = tree
        // It stands meanwhile, or runs and may execute another program: who knows its parent reads
        // nothing of it.
        let original = parent?.stage.image.flatMap { $0.path.isEmpty ? nil : $0 }
        let description =
            original.map { Image(path: $0.path, arguments: $0.arguments, time: now) }
            ?? process.image(at: now)
        stage.begin(
            RunningImage(
                start: now, path: description.path, arguments: description.arguments))
        sink.receive(.image(description))
        for kind in [LaunchBorder.Kind.spawned, .firstInstruction, .main] {
            sink.receive(.border(LaunchBorder(kind: kind, time: now)))
        }
        addThread(process.thread(pid), start: now, isNew: true, isTraced: told == nil)
        if original != nil, let parent {
            observer.copyMappings(of: parent.observer, at: now, isTold: told != nil)
        } else {
            observer.rereadMappings(at: now)
        }
    }

    /// So many looks find a thread that has a child a third of the time in 998 of 1,000 cases.
    private static let enoughLooks = 16
}
