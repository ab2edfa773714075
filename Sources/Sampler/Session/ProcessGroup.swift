import CSystem
import Glibc
import ProfileModel

/// The processes under observation: one, and on request those that it and its children start.
/// Everything that happens to them arrives here, one thing after the other.
final class ProcessGroup {
    private let signals: SignalQueue
    private let options: SamplerOptions
    /// nil: children are let go.
    private let children: (any ChildObserver)?
    let main: TraceSession
    /// By process id; the main one, too.
    private var sessions: [Int32: TraceSession]
    private var endSignal: (number: Int32, isFromTerminal: Bool)?
    /// When the launch is over.
    private var end: LaunchEnd

    init(
        pid: Int32, options: SamplerOptions, signals: SignalQueue, sink: any SampleSink,
        children: (any ChildObserver)?, ready: ReadyWatch, machine: MachineWatch
    ) {
        self.signals = signals
        self.options = options
        self.children = children
        end = LaunchEnd(ready, options)
        main = TraceSession(pid: pid, options: options, sink: sink, machine: machine)
        sessions = [pid: main]
        main.sawSignpost = { label, time in
            if MarkRecord.isMark(label) {
                ready.saw(mark: label.name, at: time)
            } else {
                ready.saw(signpost: label.name, at: time)
            }
        }
    }

    /// Runs until the recording's end. The ticks start here.
    func run() throws(SystemError) -> SamplerOutcome {
        var ticker = try Ticker(frequency: options.frequency)
        let deadline = options.duration.map { MonotonicTime.now + $0 }
        while main.outcome == nil {
            switch signals.next() {
            case .tick(let missed):
                let now = MonotonicTime.now
                ticker.serve(overrun: missed, at: now)
                // News come before ticks, by a signal of a lower number; this is for what was
                // not told.
                if ticker.served % Self.ticksBetweenLooks == 0 { takeChanges() }
                for session in sessions.values { session.tick(at: now, missed: missed) }
                if let deadline, now >= deadline { main.leave() }
                if end.isReached(at: now, in: main) { main.leave() }
                if main.sink.hasFailed { main.leave() }
            case .childChanged:
                // One signal may stand for many changes.
                takeChanges()
            case .end(let signal, let isFromTerminal):
                endSignal = (signal, isFromTerminal)
                main.leave()
                takeChanges()
            }
        }
        for session in sessions.values where session !== main {
            session.abandon()
            children?.ended(session.pid, session.result())
        }
        end.lookOnceMore(at: main, signals)
        var outcome = main.result()
        end.complete(&outcome)
        outcome.ticks = ticker.served
        outcome.missedTicks = ticker.missed
        outcome.lateness = ticker.lateness
        outcome.endSignal = endSignal
        return outcome
    }

    private static let ticksBetweenLooks: Int64 = 16

    // MARK: What ptrace reports

    private func takeChanges() {
        main.prepareForChanges()
        while main.outcome == nil {
            var hasEnded: Int32 = 0
            var status: Int32 = 0
            let tid = fl_peek(&hasEnded)
            // Once that is waited for, its last figures are gone.
            if hasEnded == 1, tid == main.pid { main.observeEnd() }
            guard tid > 0, fl_wait(tid, 1, &status) == tid else { return }
            guard let event = TraceEvent(status: status) else { continue }
            take(event, of: tid)
        }
    }

    private func take(_ event: TraceEvent, of tid: Int32) {
        guard let session = session(of: tid) else {
            // Ended before it was known, or of no interest.
            try? Tracee(tid: tid).detach()
            return
        }
        if case .forked = event, let thread = session.threads[tid],
            let message = try? thread.tracee.eventMessage()
        {
            _ = begin(Int32(truncatingIfNeeded: message), of: session)
        }
        session.take(event, of: tid)
        if session !== main, session.outcome != nil {
            sessions[session.pid] = nil
            children?.ended(session.pid, session.result())
        }
    }

    /// The process that a thread belongs to. A child's first stop may arrive before its parent's
    /// report of it.
    private func session(of tid: Int32) -> TraceSession? {
        if children == nil { return main }
        if let known = sessions[tid] { return known }
        if let known = sessions.values.first(where: { $0.threads[tid] != nil }) { return known }
        let files = ProcessFiles(pid: tid)
        guard let group = files.status("Tgid:").flatMap({ Int32(exactly: $0) }) else { return nil }
        if let known = sessions[group] { return known }
        guard let parent = files.status("PPid:").flatMap({ Int32(exactly: $0) }) else { return nil }
        return begin(group, of: sessions[parent] ?? main)
    }

    private func begin(_ pid: Int32, of parent: TraceSession) -> TraceSession? {
        if let known = sessions[pid] { return known }
        let now = MonotonicTime.now
        guard let sink = children?.began(pid, parent: parent.pid, at: now) else { return nil }
        let session = TraceSession(pid: pid, options: options, sink: sink)
        sessions[pid] = session
        session.beginForked(at: now)
        return session
    }
}
