import Agent
import Glibc
import ProcessIO
import ProfileModel

/// How a session begins: with a launch, an attach, or a fork.
struct ProcessBeginnings: SessionPart {
    let context: SessionContext
    let register: ThreadRegister
    let libraryReports: LibraryReports
    let images: ImageBeginnings

    /// A new process, stopped at its first instruction.
    func beginLaunch(_ process: StartedProcess) {
        context.isOurChild = true
        context.tree = process.tree
        let action: UInt64 = process.ignoresSampleSignal ? 1 : 0
        stage.expect(
            NextImage(
                area: process.area,
                knownAction: process.area == nil || process.hasOtherClocks ? nil : action,
                sites: process.sites))
        // First of all, because the process is stopped; the reports about it can wait.
        let entry = images.enterImage(by: process.main, at: process.firstInstruction)
        if process.unread >= 0 { close(process.unread) }
        let used = TimeSpan(nanoseconds: process.main.clock.counters.run)
        ledger.began(SessionLedger.ProcessCPU(own: used, children: .zero))
        context.scheduler.begin(process.schedule)
        let spawned = process.main.clock.time
        sink.receive(.border(LaunchBorder(kind: .spawned, time: spawned)))
        register.add(process.main, start: spawned)
        if process.main.samples?.isUserOnly == true { ledger.note(.kernelUnsampled, 1) }
        if let entry { images.announce(entry, of: process.main, known: process.image) }
        images.takePostponed()
    }

    /// Begins to follow a running process. If stacks are taken by signal, a thread is traced only
    /// when it must be stopped. Otherwise all threads are traced at once, and those that they start
    /// meanwhile.
    ///
    /// - Parameter permitted: called as soon as we know that we may observe the process.
    func beginAttached(permitted: () -> Void) throws(SystemError) {
        context.capture = context.firstCapture
        let isSpared = images.sparesLeakSanitizer(of: ImageStart(of: process))
        let isTraced = context.capture != .untraced
        let main = process.thread(pid)
        if isTraced {
            try main.seize(followingChildren: context.tracesChildren)
        } else {
            // The kernel asks for the same permission.
            try process.checkPermission()
        }
        // Read before `permitted` is called: once the process has ended, nothing can be read of it.
        let first = process.image(at: process.now)
        permitted()
        if options.asksScheduler {
            context.scheduler.begin(
                process.schedule(
                    of: process.threadIDs(), followsChildren: options.followsChildren))
        }
        let now = process.now
        ledger.began(process.cpu)
        if process.childrenFaults > 0 { context.looksForChildren = Self.enoughLooks }
        // The process may have executed another program since.
        var description = process.image(at: now)
        if description.path.isEmpty {
            (description.path, description.arguments) = (first.path, first.arguments)
        }
        let image = RunningImage(
            start: now, path: description.path, arguments: description.arguments)
        image.mayBeTraced = !isSpared
        context.noteIfNarrow()
        stage.begin(image, isToBeJoined: !isTraced && !observer.isNarrow)
        sink.receive(.image(description))
        sink.receive(
            .border(LaunchBorder(kind: .attached, time: now, counters: process.counters())))
        observer.rereadMappings(at: now)
        libraryReports.listLibraries(ofAttached: image)
        register.addThread(main, start: now, isNew: false, isTraced: isTraced)
        if !isTraced { context.followFromOutside(image) }
        var hasNews = true
        while hasNews {
            hasNews = false
            for tid in process.threadIDs() where threads[tid] == nil {
                let thread = process.thread(tid)
                // Fails for a thread that is gone already, or that is traced because its parent is.
                if isTraced { try? thread.seize(followingChildren: context.tracesChildren) }
                register.addThread(thread, start: now, isNew: false, isTraced: isTraced)
                hasNews = true
            }
        }
    }

    /// A process that an observed one forked. Until it executes a program, it runs the same one.
    ///
    /// - Parameters:
    ///   - parent: the process that it is a copy of; nil: not known.
    ///   - isScheduled: whether another session's account includes it.
    ///   - tree: takes its stacks; nil: stops do.
    func beginForked(
        off parent: SessionContext?, by tree: TreeSamples?, at now: MonotonicTime, isScheduled: Bool
    ) {
        if options.asksScheduler, !isScheduled {
            context.scheduler.begin(SchedulerReader(ofChild: pid, threads: [pid]))
        }
        sink.receive(.began(pid: pid))
        context.tree = tree
        // The process is stopped meanwhile, or runs and may execute another program. If its parent
        // is known, nothing is read of it.
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
        register.addThread(
            process.thread(pid), start: now, isNew: true, isTraced: context.eventFollowed == nil)
        if original != nil, let parent {
            observer.copyMappings(
                of: parent.observer, at: now, isReported: context.eventFollowed != nil)
        } else {
            observer.rereadMappings(at: now)
        }
    }

    /// So many looks find a thread that has a child a third of the time in 998 of 1,000 cases.
    private static let enoughLooks = 16
}
