import ProcessIO
import ProfileModel

/// A process that the kernel's events describe (``ProcessTreeEvents``). The recorder never stops
/// it, and brings none of our code into it.
extension ProcessSession {
    /// A process that an observed one forked.
    ///
    /// - Parameters:
    ///   - parent: nil: not known.
    ///   - tree: the events.
    ///   - isScheduled: whether another session's account includes it.
    func beginTold(
        off parent: ProcessSession?, by tree: TreeSamples, _ handle: ProcessHandle?,
        at time: MonotonicTime, isScheduled: Bool
    ) {
        told = EventFollowedProcess(handle: handle)
        capture = .signal
        tree.followCode(of: pid)
        parent?.takeTold(upTo: time)
        if let parent, parent.told == nil {
            // What it has mapped by now the child has, too.
            parent.observer.watchMappings(
                at: process.now, libraries: parent.instrumentation?.loadedLibraries)
        }
        beginForked(off: parent, by: tree, at: time, isScheduled: isScheduled)
        stage.image?.markAsTold()
    }

    /// A thread began.
    func beganTold(_ tid: Int32, at time: MonotonicTime) {
        guard told != nil, threads[tid] == nil, outcome == nil else { return }
        addThread(process.thread(tid), start: time, isNew: true, isTraced: false)
    }

    /// The time up to which news was read. What happened later may be another program's doing. nil:
    /// there are no news.
    var newsLimit: MonotonicTime? { told == nil ? nil : tree?.news?.limit }

    /// Hands on which code was mapped.
    func takeToldCode(upTo limit: MonotonicTime?) {
        guard told != nil, let tree else { return }
        let code = tree.takeCode(of: pid, upTo: limit)
        if !code.isEmpty { observer.mapped(code, at: limit ?? process.now) }
    }

    /// Hands on what the events told.
    ///
    /// - Parameter limit: what happened later is not handed on yet.
    func takeTold(upTo limit: MonotonicTime? = nil) {
        guard told != nil else { return }
        takeToldCode(upTo: limit)
        for thread in threads.values where thread.phase != .exited {
            takeSamples(of: thread, thread.clock.counters, upTo: limit)
        }
    }

    /// Another program took over the process.
    ///
    /// - Parameters:
    ///   - description: what `/proc` says of it; events complete it.
    ///   - name: the name by which it was executed.
    func executedTold(_ description: Image, called name: String, at time: MonotonicTime) {
        guard told != nil, outcome == nil, let tree, let main = threads[pid] else { return }
        takeTold(upTo: time)
        // Another thread that executes a program takes the first one's place, which has ended.
        if told?.withdraw(main) == true { main.forgetTally() }
        told?.end = nil
        let wasOneOfMany = threads.count > 1
        for thread in threads.values where thread.tid != pid {
            observer.closeWithoutStack(thread, at: time)
            end(thread, at: time)
            threads[thread.tid] = nil
        }
        leaveImage()
        let description = description.completed(
            by: tree.firstCode(of: pid, after: time), called: name)
        let image = RunningImage(
            start: time, path: description.path, arguments: description.arguments)
        image.markAsTold()
        guard stage.begin(image) else { return }
        scheduler.follow(pid)
        main.forgetHabits()
        observer.restart(isTold: true)
        observer.closeWithoutStack(main, at: time, counters: counters(of: main, at: time))
        if wasOneOfMany { main.restartClock(at: time) }
        sink.receive(.image(description))
        report(.firstInstruction, at: time)
        rename(main)
    }

    /// What a thread had used a moment ago, as if it had run since. If the thread is gone: what the
    /// scheduler has told.
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
    func endedTold(_ tid: Int32, at time: MonotonicTime) {
        guard told != nil, outcome == nil, let thread = threads[tid], thread.phase != .exited
        else { return }
        takeTold(upTo: time)
        rename(thread)
        // What it has used shows when it has left its core.
        told?.leaving.append(EventFollowedProcess.Leaving(thread: thread, time: time))
        threads[tid] = tid == pid ? thread : nil
        guard threads.values.allSatisfy({ $0.phase == .exited || told?.isLeaving($0) == true })
        else { return }
        told?.end = time
        if told?.handle?.isThere == true, !process.isEnding {
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
        guard outcome == nil, told?.end == nil, told?.handle?.isThere == false else { return }
        for thread in threads.values where thread.phase != .exited {
            told?.leaving.append(EventFollowedProcess.Leaving(thread: thread, time: now))
        }
        told?.end = now
    }

    private func takeLastFigures() {
        if process.cpuTime != nil {
            takeFinalCPU()
            ledger.ended(process.counters())
        }
    }

    /// Reports threads that have ended, and a process that is over, as soon as everything is known.
    /// The scheduler tells late, and the kernel says how a process ended only when somebody has
    /// taken note.
    ///
    /// - Parameter mayWait: if false, what is known now must do.
    func finishTold(mayWait: Bool) {
        for leaving in told?.takeLeaving(first: pid, mayWait: mayWait) ?? [] { close(leaving) }
        guard let end = told?.end, outcome == nil else { return }
        told?.looksSinceEnd += 1
        let looks = told?.looksSinceEnd ?? 0
        let mayTell = looks < EventFollowedProcess.enoughLooks
        let how = told?.handle?.outcome
        let isThere = how == nil && told?.handle?.isThere == true
        if mayWait, told?.leaving.isEmpty == false { return }
        // On a busy machine it may want a core for the rest of its end.
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
            // Until somebody takes note of a process's end, its last figures can be read.
            observer.closeEnded(thread, at: max(leaving.time, thread.clock.time), counters)
        }
        end(thread, at: leaving.time)
    }

    /// The recording ends, and the process goes on.
    func leaveTold(at end: MonotonicTime) {
        if told?.end != nil { return finishTold(mayWait: false) }
        guard told != nil, outcome == nil else { return }
        takeTold(upTo: end)
        finishTold(mayWait: false)
        finish(.running, at: end)
    }

    private func finish(_ outcome: Recording.Outcome, at end: MonotonicTime) {
        closeAll(at: end)
        tree?.forgetCode(of: pid)
        stage.end(outcome)
    }
}

extension RunningImage {
    /// Events tell what becomes of it; nobody stops its threads.
    fileprivate func markAsTold() {
        untraced = ProcPoller(ToldProgram())
        mayBeTraced = false
    }
}

/// A program that nobody need look for: events tell whether it is there.
private final class ToldProgram: ProgramAccess {
    let isGone = false
    let threadLinks: UInt? = nil
}
