import Agent
import Launching
import ProcessIO
import ProfileModel
import Readiness

/// The processes under observation: one, and on request those that it and its children start.
/// Everything that happens to them arrives here, one thing after the other.
final class ProcessGroup {
    private let options: SamplerOptions
    /// Observes the children; nil: children are not observed.
    private let children: (any ChildObserver)?
    let main: ProcessSession
    /// All sessions by process id, the main one, too.
    var sessions: [Int32: ProcessSession]
    /// News of children that could not be taken in yet.
    var waitingNews: [ProcessTreeEvents.News] = []
    /// The processes to which the waiting news belongs.
    var heldBack: Set<Int32> = []
    /// Processes that are not followed because there are too many.
    var refused: Set<Int32> = []
    /// The process of each thread that events report, except for each process's first thread.
    var processOfThread: [Int32: Int32] = [:]
    /// When the recording was to end.
    private var leftAt: MonotonicTime?
    /// New threads and processes that have stopped, and that their makers have not reported yet.
    private var unclaimed: Set<Int32> = []
    /// Processes whose sessions began before their parents reported them.
    private var claimed: Set<Int32> = []
    /// Children that have ended. Reporting them takes a while, so it is done later: no thread
    /// should stay stopped meanwhile, because other processes wait for the ends.
    private var over: [EndedSession] = []
    /// Those of children that have ended.
    private var childrenSamples = SampleTally()
    private var wasAskedToFinish = false
    private var endSignal: (number: Int32, isFromTerminal: Bool)?
    /// We were asked to stop. We wait until the deadline for the program to stop first.
    private var stopRequest: (signal: Int32, deadline: MonotonicTime)?
    /// When the launch is over.
    private var end: LaunchEnd

    init(
        _ process: any ProcessAccess, options: SamplerOptions, sink: any SampleSink,
        children: (any ChildObserver)?, ready: ReadyWatch, machine: MachineLoad
    ) {
        self.options = options
        self.children = children
        end = LaunchEnd(ready, options, at: process.now)
        main = ProcessSession(process, options: options, sink: sink, machine: machine)
        sessions = [process.pid: main]
        main.context.othersThread = { [unowned self] in childsThread($0) }
        main.context.sawSignpost = { label, time in
            if MarkRecord.isMark(label) {
                ready.saw(mark: label.name, at: time)
            } else {
                ready.saw(signpost: label.name, at: time)
            }
        }
    }

    /// Runs until the recording's end. The ticks start here.
    func run(_ signals: SignalQueue, _ ticker: consuming Ticker) -> SamplerOutcome {
        ticker.start()
        let deadline = options.duration.map { main.process.now + $0 }
        while main.outcome == nil {
            // The events that the waiting news depends on will be there in a moment.
            let patience = waitingNews.isEmpty ? nil : Self.newsPatience
            guard let event = signals.next(within: patience) else {
                takeNews()
                continue
            }
            switch event {
            case .tick(let missed):
                let now = main.process.now
                ticker.serve(overrun: missed, at: now)
                if stopIfDue(at: now, signals) { continue }
                // News comes before ticks, by a signal of a lower number. This finds changes that
                // were not reported.
                if ticker.served % Self.ticksBetweenLooks == 0 { takeChanges() }
                closeEnded()
                claimRest()
                takeNews()
                reportSwitches()
                for session in sessions.values where !heldBack.contains(session.pid) {
                    // A thread that stopped in the meantime stays stopped until we have handled
                    // that event.
                    if sessions.count > 1, main.context.tracesChildren { takeChanges() }
                    // The session may have ended by that.
                    guard sessions[session.pid] === session else { continue }
                    if session.context.eventFollowed?.end == nil {
                        session.tick(at: now, missed: missed)
                    }
                    if session !== main { end.look(at: now, inChild: session) }
                    if session.context.eventFollowed != nil { follow(session, at: now) }
                    closeIfOver(session)
                }
                main.context.tree?.dropStrays()
                if let deadline, now >= deadline { leave() }
                // The clock is read again: this look comes after the tick's other work.
                if end.look(at: main.process.now, in: main) { leave() }
                if main.sink.hasFailed { leave() }
            case .childChanged:
                // One signal may stand for many changes.
                takeChanges()
            case .end(let signal, let isFromTerminal):
                endSignal = (signal, isFromTerminal)
                leave()
                takeChanges()
            case .finish:
                wasAskedToFinish = true
                leave()
                takeChanges()
            case .message(let signal):
                if main.context.isOurChild { Program(pid: main.pid).pass(signal, from: signals) }
            case .stop(let signal):
                // If we are attached, we do not stop: the program would stay stopped at the next
                // event of a traced thread.
                if main.context.isOurChild {
                    stopRequest = (signal, main.process.now + Self.stopPatience)
                }
            }
        }
        closeEnded()
        let recordingEnd = leftAt ?? main.process.now
        takeNews(upTo: recordingEnd)
        reportSwitches(isLast: true)
        for session in sessions.values where session !== main {
            session.parts.eventFollower.leave(at: recordingEnd)
            // Our end releases only traced processes; we leave the others here.
            if session.context.isUntraced { session.leave() } else { session.abandon() }
            closeIfOver(session)
        }
        end.lookOnceMore(at: main, signals)
        var outcome = main.result()
        outcome.lostSamples = main.context.tree?.lost ?? 0
        outcome.notes = outcome.notes.adding([
            RecorderNote(.lostNews, main.context.tree?.news?.lost ?? 0)
        ])
        end.complete(&outcome)
        outcome.samples += childrenSamples
        outcome.ticks = ticker.served
        outcome.missedTicks = ticker.missed
        outcome.lateness = ticker.lateness
        outcome.endSignal = endSignal
        outcome.wasAskedToFinish = wasAskedToFinish
        return outcome
    }

    /// Looks after a process that the kernel's events describe. It is not reported when it ends: we poll it.
    private func follow(_ session: ProcessSession, at now: MonotonicTime) {
        if session.context.eventFollowed?.takeLookToFollow() == true {
            main.context.scheduler.follow(session.pid)
        }
        if (main.ledger.ticks &+ Int64(session.pid)) % Self.ticksBetweenLooks == 0 {
            session.parts.eventFollower.endIfGone(at: now)
        }
        session.parts.eventFollower.finish(mayWait: true)
    }

    /// Ends the recording. Undoing our changes in the first process takes a while, and may need
    /// other processes: a thread that has forked by vfork stops only when its child has gone on.
    private func leave() {
        leftAt = leftAt ?? main.process.now
        letUnclaimedGo()
        main.context.whileWaiting = { [unowned self] in serveOthers() }
        main.leave()
        main.context.whileWaiting = nil
    }

    /// Threads and processes that have just begun are no longer recorded.
    private func letUnclaimedGo() {
        let waiting = unclaimed
        unclaimed = []
        for tid in waiting { takeNew(.stopped, of: tid) }
    }

    private func takeNew(_ event: TraceEvent, of tid: Int32) {
        if main.process.group(of: tid) == main.pid {
            serve(event, of: tid)
        } else {
            try? main.process.thread(tid).detach()
        }
    }

    /// Serves the other processes. The code that waits for the first process's threads serves
    /// those.
    private func serveOthers() {
        let process = main.process
        while let (tid, isEnd) = process.peekReport(), main.threads[tid] == nil {
            let session = known(tid)
            if isEnd { session?.parts.closing.readLastFigures(of: tid) }
            guard let report = process.nextReport(of: tid) else { return }
            guard let event = report.event else { continue }
            if session == nil { takeNew(event, of: tid) } else { serve(event, of: tid) }
        }
    }

    private static let ticksBetweenLooks: Int64 = 16
    private static let newsPatience = TimeSpan(nanoseconds: 100_000)
    private static let stopPatience = TimeSpan.milliseconds(500)

    /// Stops us if that is due. The terminal stops the program along with us, and the shell waits
    /// only for us. A program that does not stop must not be held up because we stop.
    ///
    /// - Returns: true: we were stopped, and `now` is long ago.
    private func stopIfDue(at now: MonotonicTime, _ signals: SignalQueue) -> Bool {
        guard let request = stopRequest else { return false }
        takeChanges()
        let isStopped = main.context.isProgramStopped
        if isStopped || now >= request.deadline { stopRequest = nil }
        if isStopped { signals.stop(by: request.signal) }
        return isStopped
    }

    // MARK: Reports from ptrace

    func takeChanges() {
        takeNews()
        main.prepareForChanges()
        for session in tracesChildren ? Array(sessions.values) : []
        where session !== main && session.context.isUntraced {
            session.prepareForChanges()
        }
        let process = main.process
        while main.outcome == nil, let (tid, isEnd) = process.peekReport() {
            // Once the end has been waited for, the last figures are gone.
            if isEnd {
                if tid == main.pid { main.parts.polling.observeEnd() }
                known(tid)?.parts.closing.readLastFigures(of: tid)
            }
            guard let report = process.nextReport(of: tid) else { return }
            if let event = report.event { take(event, of: tid) }
        }
    }

    private func take(_ event: TraceEvent, of tid: Int32) {
        // Finding the thread's process takes longer than waiting for the report on the new thread.
        if event == .stopped, tracesChildren, known(tid) == nil {
            unclaimed.insert(tid)
        } else {
            serve(event, of: tid)
        }
    }

    /// Claims new threads and processes whose makers may have ended, and will never report them.
    func claimRest() {
        for tid in unclaimed.sorted() { serve(.stopped, of: tid) }
        unclaimed = []
    }

    private func serve(_ event: TraceEvent, of tid: Int32) {
        guard let session = session(of: tid) else {
            // Ended before it was known, or of no interest.
            try? main.process.thread(tid).detach()
            return
        }
        let now = main.process.now
        if session !== main, tid == session.pid, let outcome = event.outcome {
            sessions[tid] = nil
            end.ready.childEnded(tid)
            over.append(EndedSession(session: session, outcome: outcome, time: now))
            return
        }
        let made = made(by: session.threads[tid], event)
        // First of all, because the thread is stopped.
        session.take(event, of: tid)
        if let made {
            if event == .forked || isProcess(made, clonedBy: session) {
                begin(made, forkedBy: session, at: now)
            }
            if unclaimed.remove(made) != nil { serve(.stopped, of: made) }
        }
        closeIfOver(session)
    }

    /// Whether a clone is a process of its own, which means that it shares no thread group.
    private func isProcess(_ tid: Int32, clonedBy session: ProcessSession) -> Bool {
        session.threads[tid] == nil && main.process.group(of: tid) == tid
    }

    /// The thread or process that a thread has just made.
    private func made(by thread: TracedThread?, _ event: TraceEvent) -> Int32? {
        guard tracesChildren, event == .forked || event == .cloned,
            let message = try? thread?.tracee.eventMessage()
        else { return nil }
        return Int32(truncatingIfNeeded: message)
    }

    private func begin(_ child: Int32, forkedBy parent: ProcessSession, at now: MonotonicTime) {
        // The child may have ended already, and must not begin once more.
        guard claimed.remove(child) == nil else { return }
        _ = begin(child, of: parent, isParent: true, at: now)
    }

    /// Drops a child that has ended.
    func closeIfOver(_ session: ProcessSession) {
        guard session !== main, session.outcome != nil, sessions[session.pid] === session
        else { return }
        sessions[session.pid] = nil
        forgetThreads(of: session)
        end.ready.childEnded(session.pid)
        report(session, at: session.context.eventFollowed?.end ?? main.process.now)
    }

    private func report(_ child: ProcessSession, at time: MonotonicTime) {
        let result = child.result()
        childrenSamples += result.samples
        children?.ended(child.pid, result, at: time)
    }

    /// A child that has ended and has yet to be reported.
    private struct EndedSession {
        let session: ProcessSession
        let outcome: Recording.Outcome
        let time: MonotonicTime
    }

    func closeEnded() {
        for ended in over {
            ended.session.parts.closing.ended(ended.session.pid, ended.outcome, at: ended.time)
            report(ended.session, at: ended.time)
        }
        over = []
    }

    /// The process to which a thread belongs. A child's first stop may arrive before its parent
    /// reports it.
    private func session(of tid: Int32) -> ProcessSession? {
        if !tracesChildren { return main }
        if let known = known(tid) { return known }
        guard let group = main.process.group(of: tid) else { return nil }
        if let known = sessions[group] { return known }
        guard let parent = main.process.parent(of: tid) else { return nil }
        claimed.insert(group)
        return begin(
            group, of: sessions[parent] ?? main, isParent: sessions[parent] != nil,
            at: main.process.now)
    }

    private func known(_ tid: Int32) -> ProcessSession? {
        sessions[tid] ?? sessions.values.first { $0.threads[tid] != nil }
    }

    /// - Parameter isParent: false: it is only presumed to be the parent.
    private func begin(
        _ pid: Int32, of parent: ProcessSession, isParent: Bool, at now: MonotonicTime
    ) -> ProcessSession? {
        if let known = sessions[pid] { return known }
        // The kernel may reuse its id.
        if over.contains(where: { $0.session.pid == pid }) { closeEnded() }
        let session = newSession(pid, of: parent, at: now)
        session?.parts.beginnings.beginForked(
            off: isParent ? parent.context : nil, by: isParent ? parent.context.tree : nil, at: now,
            isScheduled: main.context.scheduler.seesMachine)
        return session
    }

    /// - Returns: nil: the child is not observed.
    func newSession(
        _ pid: Int32, of parent: ProcessSession, at now: MonotonicTime
    ) -> ProcessSession? {
        guard let sink = children?.began(pid, parent: parent.pid, at: now) else { return nil }
        let session = ProcessSession(main.process.process(pid), options: options, sink: sink)
        session.context.sawSignpost = main.context.sawSignpost
        session.context.cpuAvoidance = main.context.cpuAvoidance
        sessions[pid] = session
        return session
    }

    /// Whether ptrace reports children.
    private var tracesChildren: Bool { children != nil && main.context.tracesChildren }
}
