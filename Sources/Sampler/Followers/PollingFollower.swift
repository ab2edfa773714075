import Agent
import CAgent
import ProcessIO
import ProfileModel

/// Follows a process that is not traced, by looks from outside.
struct PollingFollower: SessionPart {
    let context: SessionContext
    let register: ThreadRegister
    let discovery: ThreadDiscovery
    let signposts: SignpostReports
    let schedule: ScheduleReports
    let timerEnds: TimerEnds
    let signalStacks: SignalStacks
    let launchReports: LaunchReports
    let hookReports: HookReports
    let images: ImageBeginnings
    let closing: SessionClosing

    /// Notices what ptrace would have reported: new threads, another program, the end.
    func followUntraced(at now: MonotonicTime) {
        guard let image = stage.image, image.untraced != nil else { return }
        if image.untraced?.lookForLostImage() == true {
            joinNextImage(after: image)
            return
        }
        followExecution()
        if image.untraced?.lookForThreads(isTold: context.scheduler.isReporting) == true {
            discovery.addNewThreads(at: now)
        }
    }

    /// Makes a thread that is about to execute another program wait until it is traced. So nothing
    /// of the next program's launch is missed.
    func followExecution() {
        guard let area, area.isAboutToExecute else { return }
        timerEnds.endTimers()
        // It does not show which thread does so; that thread may be younger than the last look.
        discovery.addNewThreads(at: process.now)
        for thread in threads.values where !thread.tracing.isTraced {
            _ = thread.tracing.seize(followingChildren: context.tracesChildren)
        }
        // The answers so far belong to the program that is about to go.
        for thread in threads.values where thread.phase == .free {
            if let counters = thread.counters() { signalStacks.takeAnswer(of: thread, counters) }
        }
        let deadline = process.now + Self.executionPatience
        guard area.followExecution() else { return }
        let number = area[\.next_area]
        // Beside what the kernel does for the execve.
        let next =
            number < 0
            ? nil : AgentMemory(of: process, descriptor: number, stackBytes: options.stackBytes)
        stage.follow(
            Execution(
                area: next.map { InheritedAgent(area: $0, descriptor: number) }, deadline: deadline)
        )
    }

    /// How long an exec may take: the kernel may have to fetch the program from a disk. An exec
    /// that fails is reported at once.
    private static let executionPatience = TimeSpan.milliseconds(1000)

    /// `execve` failed. Each thread is detached at its next stop. Ticks stop those to which a stop
    /// does no harm (``SessionContext/isTracedForNothing(_:)``).
    func abandonExecution() {
        stage.abandonExecution()
        area?.forgetExecution()
    }

    /// The program that we watched is gone from the process. Stops the program that has taken its
    /// place, unless the process is ending.
    private func joinNextImage(after image: RunningImage) {
        // A process without memory of its own is about to end.
        guard let main = threads[pid], process.hasProgram else {
            noteUnannounced()
            if !context.isOurChild, process.isZombie != false { endUnseen() }
            return
        }
        // The kernel may have reported the exec after all, and we have not read the report yet.
        context.receiver?.takeChanges()
        guard stage.image === image, image.untraced != nil else { return }
        hookReports.reportHooks(at: process.now, isLast: true)
        let executed = area?.executed.map { min(max($0, image.start), process.now) }
        images.leaveImage(isLate: true, executed: executed)
        for thread in threads.values where thread.tid != pid {
            register.end(thread, at: process.now)
            context.threads.remove(thread.tid)
        }
        main.reopen(at: process.now)
        main.stack.forgetPointer()
        main.goOn()
        // Another thread's exec took the place of the one that may have been traced.
        main.tracing.interruptIfTraced()
        note(.lateExec)
        if main.tracing.isTraced {
            main.wasAsked(at: process.now)
        } else {
            // No thread is stopped for it: it may already wait in a call that a stop would end.
            images.beginImage(at: process.now, isLate: true)
        }
    }

    /// Ends a thread that is not traced, and so ends unreported.
    func forget(_ thread: TracedThread, at now: MonotonicTime) {
        // Events report the ends of the threads that they describe.
        guard !thread.tracing.isTraced, thread.phase != .exited, context.eventFollowed == nil else {
            return
        }
        // Signposts belong to the thread that wrote them only as long as its id leads to it.
        signposts.reportSignposts(at: now, isLast: false)
        // Its last answer accounts for most of the time that was not reported yet.
        signalStacks.takeAnswer(of: thread, thread.clock.counters)
        closing.takeLastSamples(of: thread)
        signalCapture?.forget(thread)
        thread.samples = nil
        guard thread.tid != pid else { return register.end(thread, at: now) }
        context.threads.remove(thread.tid)
        stage.image?.untraced?.sawThreadEnd()
        if !context.scheduler.awaitEnd(of: thread) { register.end(thread, at: now) }
    }

    /// Notes a program that was executed without our code's knowledge: it has the privileges of its
    /// file, and nothing of it can be read.
    private func noteUnannounced() {
        guard let area, area.value(\.unannounced) != 0 else { return }
        area.set(\.unannounced, 0)
        note(.unrecordedPrivileges)
    }

    /// Our own child has ended untraced, and waits until we reap it. Until then its last figures
    /// can be read.
    func observeEnd() {
        guard context.isOurChild, let image = stage.image, image.untraced != nil, !ledger.isClosed,
            process.hasEnded
        else { return }
        noteUnannounced()
        closing.takeFinalCPU()
        ledger.ended(process.counters())
        let rest = threads.values.filter { $0.phase != .exited }
        for thread in rest {
            signalStacks.takeAnswer(of: thread, thread.counters() ?? thread.clock.counters)
        }
        schedule.reportSchedule(isLast: true)
        let now = min(process.now, context.scheduler.exitTime ?? process.now)
        launchReports.reportBorders(at: now)
        for thread in rest {
            closing.takeLastSamples(of: thread)
            // Nothing can be read of the other threads any more. A thread that was waiting waited
            // until the end.
            if thread.tid != pid, thread.tally.end != nil {
                observer.closeAfterEnd(of: thread)
            } else if thread.tid == pid, let end = thread.tally.end, end >= image.start,
                let counters = thread.counters()
            {
                // The thread is over, even if others still wait for a core to end on.
                if end > thread.clock.time { observer.closeEnded(thread, at: end, counters) }
                register.rename(thread)
                register.end(thread, at: now)
            } else if thread.tid == pid || thread.blocked != nil {
                observer.close(thread, at: now)
            }
        }
    }

    /// Ends the session of a process that is gone and is not our child.
    private func endUnseen() {
        for thread in threads.values where thread.phase != .exited {
            if thread.blocked != nil { observer.close(thread, at: process.now) }
            register.end(thread, at: process.now)
        }
        schedule.reportSchedule(isLast: true)
        context.report(.ended, at: process.now)
        stage.end(context.handle?.outcome ?? .unknown)
    }
}
