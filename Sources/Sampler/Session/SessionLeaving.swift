import ProcessIO
import ProfileModel

/// Ends a recording: the process goes on, and what we did to it is taken back.
struct SessionLeaving: SessionPart {
    let context: SessionContext
    let stopper: ThreadStopper
    let markPlacer: MarkPlacer
    let images: ImageBeginnings
    let closing: SessionClosing
    let agentJoin: AgentJoin
    let agentRemoval: AgentRemoval

    /// Takes no more looks; the process goes on.
    func abandon() {
        guard context.outcome == nil else { return }
        closing.closeAll(at: process.now)
        stage.leave()
        callOffStops(by: process.now + ThreadStopper.stopPatience)
        stage.end(.running)
    }

    /// Ends the recording: the process is let go as soon as that does no harm.
    func leave() {
        agentJoin.noteMissedEntry()
        guard stage.leave() else { return }
        closing.closeAll(at: process.now)
        closing.takeFinalCPU()
        let deadline = process.now + Self.removalPatience
        agentJoin.awaitEntry(by: deadline)
        markPlacer.removeMarks()
        agentRemoval.removeArea(by: deadline)
        // Another program may have begun meanwhile, with our code in it.
        images.takePostponed()
        agentRemoval.removeArea(by: deadline)
        agentRemoval.removeForsaken(by: deadline)
        callOffStops(by: deadline)
        // It may have ended while that was taken back: then that counts.
        stage.end(.running)
    }

    /// How long we wait to take our code back: a program that is short of cores gets one sooner or
    /// later.
    private static let removalPatience = TimeSpan.milliseconds(10_000)

    /// Calls off stops at the end, when the kernel lets go of all that we trace.
    private func callOffStops(by deadline: MonotonicTime) {
        let asked = threads.values.filter {
            $0.tracing.isTraced && $0.tracing.interruption != nil
        }
        for thread in asked { thread.tracing.interruption?.callOff() }
        while context.outcome == nil {
            // Also those that were not asked: what they forked may be waited for.
            stopper.serveAll()
            let isOver = asked.allSatisfy {
                !$0.tracing.isTraced || $0.phase == .exited
                    || $0.tracing.interruption?.isOnItsWay != true
            }
            guard !isOver, process.now < deadline, !context.isCalledOff else { return }
            context.pause(microseconds: 200)
        }
    }
}
