import ProcessIO
import ProfileModel

/// Follows a process that the kernel's events describe (``ProcessTreeEvents``). The recorder never stops
/// it, and brings none of our code into it.
struct EventFollower: SessionPart {
    let context: SessionContext
    let register: ThreadRegister
    let eventStacks: EventStacks
    let images: ImageBeginnings
    let beginnings: ProcessBeginnings
    let closing: SessionClosing

    /// The state of a process that events describe; nil: it is followed in another way.
    private var followed: EventFollowedProcess? {
        get { context.eventFollowed }
        nonmutating _modify { yield &context.eventFollowed }
    }

    /// A process that an observed one forked.
    ///
    /// - Parameters:
    ///   - parent: nil: not known.
    ///   - tree: the events.
    ///   - isScheduled: whether another session's account includes it.
    func begin(
        off parent: EventFollower?, by tree: TreeSamples, _ handle: ProcessHandle?,
        at time: MonotonicTime, isScheduled: Bool
    ) {
        followed = EventFollowedProcess(handle: handle)
        context.capture = .untraced
        tree.followCode(of: pid)
        parent?.take(upTo: time)
        if let parent, parent.followed == nil {
            // The child inherits the code that its parent has mapped so far.
            parent.observer.watchMappings(
                at: process.now, libraries: parent.context.instrumentation?.loadedLibraries)
        }
        beginnings.beginForked(off: parent?.context, by: tree, at: time, isScheduled: isScheduled)
        stage.image?.followByEvents()
    }

    /// A thread began.
    func threadBegan(_ tid: Int32, at time: MonotonicTime) {
        guard followed != nil, threads[tid] == nil, context.outcome == nil else {
            return
        }
        register.addThread(process.thread(tid), start: time, isNew: true, isTraced: false)
    }

    /// Passes on the code that was mapped.
    func takeCode(upTo limit: MonotonicTime?) {
        guard followed != nil, let tree = context.tree else { return }
        let code = tree.takeCode(of: pid, upTo: limit)
        if !code.isEmpty { observer.mapped(code, at: limit ?? process.now) }
    }

    /// Passes on what the events recorded.
    ///
    /// - Parameter limit: later events are kept for the next call.
    func take(upTo limit: MonotonicTime? = nil) {
        guard followed != nil else { return }
        takeCode(upTo: limit)
        for thread in threads.values where thread.phase != .exited {
            eventStacks.takeSamples(of: thread, thread.clock.counters, upTo: limit)
        }
    }

    /// Another program took over the process.
    ///
    /// - Parameters:
    ///   - description: what `/proc` says of it; events complete it.
    ///   - name: the name by which it was executed.
    func executed(_ description: Image, called name: String, at time: MonotonicTime) {
        guard followed != nil, context.outcome == nil, let tree = context.tree,
            let main = threads[pid]
        else { return }
        take(upTo: time)
        // Another thread that executes a program takes the first one's place, which has ended.
        if followed?.withdraw(main) == true { main.forgetTally() }
        followed?.end = nil
        let wasOneOfMany = threads.count > 1
        for thread in threads.values where thread.tid != pid {
            observer.closeWithoutStack(thread, at: time)
            register.end(thread, at: time)
            context.threads.remove(thread.tid)
        }
        images.leaveImage()
        let description = description.completed(
            by: tree.firstCode(of: pid, after: time), called: name)
        let image = RunningImage(
            start: time, path: description.path, arguments: description.arguments)
        image.followByEvents()
        guard stage.begin(image) else { return }
        context.scheduler.follow(pid)
        main.forgetHabits()
        observer.restart(isReported: true)
        observer.closeWithoutStack(main, at: time, counters: counters(of: main, at: time))
        if wasOneOfMany { main.restartClock(at: time) }
        sink.receive(.image(description))
        context.report(.firstInstruction, at: time)
        register.rename(main)
    }

    /// A thread's counters a moment ago, computed as if it had run since. If the thread is gone:
    /// the times that the scheduler has reported.
    private func counters(of thread: TracedThread, at time: MonotonicTime) -> SchedulerCounters {
        var before = thread.clock.counters
        guard var counters = thread.counters() else {
            before.run &+= thread.tally.running.nanoseconds
            return before
        }
        let since = max(.zero, process.now - time).nanoseconds
        counters.run = max(before.run, counters.run &- since)
        return counters
    }

    /// A thread has ended.
    func threadEnded(_ tid: Int32, at time: MonotonicTime) {
        guard followed != nil, context.outcome == nil, let thread = threads[tid],
            thread.phase != .exited
        else { return }
        take(upTo: time)
        register.rename(thread)
        // The CPU time that the thread used is known once it has left its core.
        followed?.leaving.append(
            EventFollowedProcess.Leaving(thread: thread, time: time))
        if tid != pid { context.threads.remove(tid) }
        guard
            threads.values.allSatisfy({
                $0.phase == .exited || followed?.isLeaving($0) == true
            }
            )
        else { return }
        followed?.end = time
        if followed?.handle?.isThere == true, !process.isEnding {
            // Executed with the privileges of its file, a program is out of the events' reach.
            note(.unrecordedPrivileges)
            finish(.running, at: time)
        } else {
            takeLastFigures()
        }
    }

    /// Ends the process if it is gone and events did not say so, because there was no room for
    /// them.
    func endIfGone(at now: MonotonicTime) {
        guard context.outcome == nil, followed?.end == nil,
            followed?.handle?.isThere == false
        else { return }
        for thread in threads.values where thread.phase != .exited {
            followed?.leaving.append(
                EventFollowedProcess.Leaving(thread: thread, time: now))
        }
        followed?.end = now
    }

    private func takeLastFigures() {
        if process.cpuTime != nil {
            closing.takeFinalCPU()
            ledger.ended(process.counters())
        }
    }

    /// Reports threads that have ended, and a process that is over, as soon as everything is known.
    /// The scheduler reports late, and the kernel says how a process ended only after its parent
    /// has reaped it.
    ///
    /// - Parameter mayWait: if false, report with the facts known now.
    func finish(mayWait: Bool) {
        for leaving in followed?.takeLeaving(first: pid, mayWait: mayWait) ?? [] {
            close(leaving)
        }
        guard let end = followed?.end, context.outcome == nil else { return }
        followed?.looksSinceEnd += 1
        let looks = followed?.looksSinceEnd ?? 0
        let mayTell = looks < EventFollowedProcess.enoughLooks
        // In this order: if the process goes between the two questions, the next look reports how
        // it ended.
        let isThere = followed?.handle?.isThere == true
        let how = followed?.handle?.outcome
        if mayWait, followed?.leaving.isEmpty == false { return }
        // On a busy machine the process may wait for a core to finish its end.
        if mayWait, how == nil, mayTell || isThere && looks < EventFollowedProcess.mostLooks {
            return
        }
        finish(how ?? .unknown, at: end)
    }

    private func close(_ leaving: EventFollowedProcess.Leaving) {
        let thread = leaving.thread
        if thread.tally.end != nil {
            observer.closeAfterEnd(of: thread)
        } else if let counters = thread.counters() {
            // Until a process is reaped, its last figures can be read.
            observer.closeEnded(thread, at: max(leaving.time, thread.clock.time), counters)
        }
        register.end(thread, at: leaving.time)
    }

    /// The recording ends, and the process goes on.
    func leave(at end: MonotonicTime) {
        if followed?.end != nil { return finish(mayWait: false) }
        guard followed != nil, context.outcome == nil else { return }
        take(upTo: end)
        finish(mayWait: false)
        finish(.running, at: end)
    }

    private func finish(_ outcome: Recording.Outcome, at end: MonotonicTime) {
        closing.closeAll(at: end)
        context.tree?.forgetCode(of: pid)
        stage.end(outcome)
    }
}

extension RunningImage {
    /// Events report the program's further life. The recorder does not stop its threads.
    fileprivate func followByEvents() {
        untraced = ProcPoller(EventFollowedProgram())
        mayBeTraced = false
    }
}

/// A program that need not be polled: events report whether it is there.
private final class EventFollowedProgram: ProgramAccess {
    let isGone = false
    let threadLinks: UInt? = nil
}
