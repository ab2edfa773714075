import ProcessIO
import ProfileModel
import Readiness
import System

/// Decides when a recording has seen enough: some time after the program was ready, or when it
/// should have been ready but was not.
struct LaunchEnd {
    let ready: ReadyWatch
    private let extended: TimeSpan
    private let watchdog: MonotonicTime?
    private var readiness: Readiness?
    private var stall: Stall?

    /// The time limit of the launch starts now.
    init(_ ready: ReadyWatch, _ options: SamplerOptions, at now: MonotonicTime) {
        self.ready = ready
        extended = options.extended
        watchdog = options.watchdog.map { now + $0 }
    }

    /// - Returns: true if the recording should leave the process now. Called at every tick.
    mutating func look(at now: MonotonicTime, in session: ProcessSession) -> Bool {
        guard session.outcome == nil else { return false }
        if readiness == nil { take(ready.look(at: now, in: session.context), session.sink) }
        if let readiness { return now >= readiness.time + extended }
        guard let watchdog, now >= watchdog else { return false }
        stall = StallInspector(session: session).stall(at: now)
        return true
    }

    /// Called at a child's ticks, before the tick of the process itself ends.
    func look(at now: MonotonicTime, inChild session: ProcessSession) {
        if readiness == nil { ready.look(at: now, inChild: session.pid, session.context) }
    }

    /// Only other threads of the recorder may have noticed the process's last actions.
    mutating func lookOnceMore(at session: ProcessSession, _ signals: SignalQueue) {
        guard readiness == nil, stall == nil, session.outcome != .running else { return }
        take(ready.lastLook(signals), session.sink)
    }

    private mutating func take(_ found: Readiness?, _ sink: any SampleSink) {
        guard let found else { return }
        readiness = found
        sink.receive(.ready(found))
    }

    func complete(_ outcome: inout SamplerOutcome) {
        outcome.readiness = readiness
        outcome.stall = stall
        outcome.relays = ready.relays
        guard ready.awaitsReadiness, readiness == nil, stall == nil else { return }
        switch outcome.outcome {
        case .exited, .signalled: outcome.notes = outcome.notes.adding([RecorderNote(.neverReady)])
        case .running, .unknown: break
        }
    }
}
