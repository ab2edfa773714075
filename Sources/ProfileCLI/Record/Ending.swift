import Exports
import Glibc
import Launching
import ProcessIO
import ProfileModel
import Readiness
import Recorder
import Recording
import Report
import Sampler

/// The part of `record` and `attach` after the recording: reports on the launch's end, what happens
/// to the program, and the exit status.
struct Ending {
    let result: Recorder.Result
    let options: RecordOptions
    let isLaunch: Bool
    let signals: SignalQueue
    let console: Console

    /// Waits until the program's output so far has reached its destination, before we print
    /// anything.
    func settleOutput() {
        guard result.sampler.outcome != .running else { return }
        for relay in result.sampler.relays { relay.drain(signals) }
    }

    /// If the launch was not over in time, prints every thread's stack and the reason of its wait.
    func explainStall() {
        guard let stall = result.sampler.stall, let limit = options.end.watchdog else { return }
        let conditions = options.end.until.isEmpty ? [.exit] : options.end.until
        let awaited = conditions.map(\.description).joined(separator: ", ")
        console.complain("not ready within \(Numbers.time(limit)) (waited for: \(awaited))")
        var timings = Timings()
        guard
            let recording = try? Reading.symbolicatedRecording(at: options.output, &timings)
        else { return }
        // The reader may have closed the stream. The recording has all of it.
        try? console.write(console.words(StallText.render(stall, in: recording)), to: .error)
    }

    /// Waits for a program that we started and that outlives its recording, so that our caller gets
    /// its status.
    ///
    /// - Parameter isComplete: false if the recording is incomplete, which was reported. A program
    ///   that ran to its end still gives its own status.
    /// - Returns: the exit status.
    func seeToTheEnd(isComplete: Bool) -> Int32 {
        let isStalled = result.sampler.stall != nil
        guard isLaunch else {
            if result.sampler.outcome != .running { sayThatItCameTooSoon() }
            guard isComplete else { return OwnStatus.failure }
            return isStalled ? OwnStatus.stalled : 0
        }
        guard result.sampler.outcome == .running else {
            sayThatItCameTooSoon()
            return status(of: result.sampler.outcome)
        }
        let program = Program(pid: result.pid)
        let isStopped = after == .stop
        if isStopped { stop(program) }
        let outcome =
            isStopped && isStalled ? endOrKill(program) : program.waitForEnd(signals)
        for relay in result.sampler.relays { relay.drain(signals) }
        if isStopped, !isComplete { return OwnStatus.failure }
        if isStalled { return OwnStatus.stalled }
        // The status only says that our signal ended the program.
        if isStopped, result.sampler.readiness != nil { return 0 }
        return status(of: outcome)
    }

    /// By default, a program is stopped if the user wanted only its launch. A program that has
    /// already received a signal decides for itself. If the recording failed on the way, the
    /// program is not affected.
    private var after: AfterRecording {
        if let after = options.after { return after }
        guard result.sampler.endSignal == nil, !result.sampler.wasAskedToFinish else {
            return .keep
        }
        if result.sampler.readiness != nil || result.sampler.stall != nil { return .stop }
        return options.end.awaitsReadiness && result.failure == nil ? .stop : .keep
    }

    private func stop(_ program: Program) {
        if options.after == nil {
            let ready = result.sampler.readiness.map { "ready (\($0.by))" } ?? "not ready"
            console.complain(
                "the program is \(ready); it is stopped with SIGTERM (--after keep leaves it "
                    + "running)")
        }
        program.send(SIGTERM)
    }

    private func endOrKill(_ program: Program) -> Recording.Outcome {
        program.waitForEndOrKill(signals) {
            console.complain("the program did not end by SIGTERM; it is killed")
        }
    }

    private func sayThatItCameTooSoon() {
        guard options.end.awaitsReadiness, !options.end.until.contains(.exit),
            result.sampler.readiness == nil, result.sampler.endSignal == nil
        else { return }
        let awaited = options.end.until.map(\.description).joined(separator: ", ")
        console.complain("the program ended before it was ready (\(awaited))")
    }

    private func status(of outcome: Recording.Outcome) -> Int32 {
        switch outcome {
        case .exited(let status): status
        case .signalled(let signal): 128 + signal
        case .running, .unknown: OwnStatus.failure
        }
    }
}
