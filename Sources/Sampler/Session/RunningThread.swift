import Agent
import ProcessIO
import ProfileModel

/// A thread that a look found running, as ``CapturePolicy`` asks for it.
struct RunningThread: CaptureFacts {
    let thread: TracedThread
    let session: ProcessSession
    let status: ThreadStatus
    let counters: SchedulerCounters
    let approach: BurstPolicy.Approach
    /// Whether it may have waited for something since the last look.
    let hasWaited: Bool
    let now: MonotonicTime

    var isSampledByTree: Bool { session.isSampledByTree(thread) }
    var wantsTimer: Bool { session.wantsTimer(thread) }
    var needsStop: Bool { session.stage.isSettling || session.isTracedForNothing(thread) }
    var mayReadForever: Bool { session.endlessFiles.areOpen(at: now) }
    var mayMeetLongCall: Bool { session.mayMeetLongCall(thread, at: now) }
    var handlersBlock: Bool { session.handlersBlock }
    var isComputing: Bool { thread.calls.isComputing }
    var hasHandler: Bool { session.signalCapture != nil }
    var isMaskKnown: Bool { thread.statuses.knowsMask || !session.someBlockOurs }
    var refusesSignal: Bool { obstacle != nil }
    var mayHarmOthers: Bool { session.mayHarmOthers(thread) }

    /// What keeps our signal from it; nil: nothing.
    var obstacle: RecorderNote.Kind? {
        guard let signals = session.signalCapture else { return nil }
        // The thread may be on another stack when the signal comes.
        let hasRoom = signals.slots.hasAlternateStack(thread.tid)
        return signals.obstacle(thread, status, hasRoom: hasRoom)
    }
}
