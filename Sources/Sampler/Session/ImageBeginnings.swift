import Agent
import CAgent
import Images
import ProcessIO
import ProfileModel

/// How a process's program begins, and how it is left for the next one.
struct ImageBeginnings: SessionPart {
    let context: SessionContext
    let gate: LaunchGate
    let register: ThreadRegister
    let resumption: ThreadResumption
    let launchReports: LaunchReports
    let agentEntry: AgentEntry

    /// A new image in the process; its first thread is stopped at its first instruction.
    ///
    /// - Parameter isLate: it was noticed after the fact, and is past that instruction.
    func beginImage(at now: MonotonicTime, isLate: Bool = false) {
        // Checked while the program is stopped: once it is over, its privileges cannot be read.
        // (The first program would have been refused.)
        if process.lacksPrivileges { note(.deniedPrivileges) }
        guard let main = threads[pid], let entry = enterImage(by: main, at: now, isLate: isLate)
        else { return }
        announce(entry, of: main)
        if isLate, main.tracing.isTraced {
            resumption.resume(main, stoppedSince: now)
        } else if isLate {
            context.followFromOutside(entry.image)
        }
        takePostponed()
    }

    /// Takes the event that came too soon, or before its image was announced.
    func takePostponed() {
        guard let event = context.postponed else { return }
        context.postponed = nil
        context.receiver?.take(event, of: pid)
    }

    /// The facts about an image that are known when its first thread continues.
    struct ImageEntry {
        let image: RunningImage
        let stopped: MonotonicTime
        /// When the program's own first instruction was executed. Of a late image: when it was, as far
        /// as known.
        let began: MonotonicTime
        /// It was noticed after the fact: the progress of its launch is unknown.
        let isLate: Bool
        /// The first thread's counters at that moment.
        let counters: SchedulerCounters?
        /// nil: it can be read after the first thread has continued, because the program's end
        /// would be a stop.
        let program: Image?
        /// As ``ImageStart/beginsAtEntry`` of a static program.
        let beginsWithMain: Bool
    }

    /// - Returns: nil: the session is over.
    func enterImage(
        by main: TracedThread, at now: MonotonicTime, isLate: Bool = false
    ) -> ImageEntry? {
        leaveImage()
        let next = stage.next
        context.capture = context.firstCapture
        let image = RunningImage(start: now)
        let start = isLate ? nil : ImageStart(of: process, isAtFirstInstruction: true)
        if let start { image.mayBeTraced = !sparesLeakSanitizer(of: start) }
        guard stage.begin(image, isToBeJoined: isLate && context.capture == .untraced) else {
            return nil
        }
        if !isLate { main.tracing.wasSeized() }
        var counters = main.counters()
        let program = context.tree == nil ? nil : process.image(at: now)
        let began =
            start.map { agentEntry.enter(image, at: $0, next, by: main, at: now) } ?? next.executed
            ?? now
        // Our code read an exact clock. The kernel's counters lack the time since the thread got
        // its core.
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

    /// Whether to avoid tracing because of LeakSanitizer: a program with LeakSanitizer fails if it
    /// is traced. It is followed from outside instead. Its children are not followed, because that
    /// takes tracing.
    func sparesLeakSanitizer(of start: @autoclosure () -> ImageStart) -> Bool {
        guard context.capture == .ptrace, start().program?.hasLeakSanitizer == true else {
            return false
        }
        note(.leakSanitizer)
        context.capture = .untraced
        return true
    }

    /// - Parameter known: a description that need not be read; nil: there is none.
    func announce(_ entry: ImageEntry, of main: TracedThread, known: Image? = nil) {
        // Another thread may have executed the program, and has the first one's id now.
        context.scheduler.follow(pid)
        main.forgetHabits()
        main.noteOurStop()
        // A thread that is stopped for its stacks needs no events.
        if context.capture != .untraced || main.samples?.hasEnded == true { main.samples = nil }
        observer.restart()
        observer.closeWithoutStack(
            main, at: entry.isLate ? entry.stopped : entry.began, counters: entry.counters)
        context.noteHold(from: entry.stopped, to: entry.began)
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
        launchReports.learnProgram(of: entry.image, at: entry.began)
        if entry.beginsWithMain { context.report(.main, at: entry.began) }
        register.rename(main)
        gate.awaitLibraries()
    }

    /// The program is gone: drops all that was known of it.
    ///
    /// - Parameters:
    ///   - isLate: the next one runs already.
    ///   - executed: when it was executed, as far as known.
    func leaveImage(isLate: Bool = false, executed: MonotonicTime? = nil) {
        stage.loseImage(isLate: isLate, executed: executed)
        observer.ownCode = nil
        observer.isNarrow = false
        marks?.leaveImage()
        for thread in threads.values { thread.forgetRequests() }
    }

    /// Whether a stop was the one that ``PollingFollower`` asked for. The new image begins there.
    func takeMissedExec(_ thread: TracedThread, at now: MonotonicTime) -> Bool {
        guard stage.hasMissedExec, thread.tid == pid else { return false }
        thread.goOn()
        beginImage(at: now, isLate: true)
        return true
    }
}
