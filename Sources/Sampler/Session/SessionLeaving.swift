import ProcessIO
import ProfileModel

/// Ends a recording: the process goes on, and our changes in it are undone.
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

    /// Ends the recording: the process is released as soon as that does no harm.
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
        // The process may have ended during the removal: then that outcome counts.
        stage.end(.running)
    }

    /// How long we wait to remove our code: a program that is short of cores gets one sooner or
    /// later.
    private static let removalPatience = TimeSpan.milliseconds(10_000)

    /// Calls off stops at the end, when the kernel releases all threads that we trace.
    private func callOffStops(by deadline: MonotonicTime) {
        let asked = threads.values.filter {
            $0.tracing.isTraced && $0.tracing.interruption != nil
        }
        for thread in asked { thread.tracing.interruption?.callOff() }
        while context.outcome == nil {
            // Serve the other threads, too: a child that one of them forked may be waited for.
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
