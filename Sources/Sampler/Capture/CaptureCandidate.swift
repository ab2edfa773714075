import Agent
import ProcessIO
import ProfileModel

/// A thread that a look found running, and what ``CapturePolicy`` asks about it.
struct CaptureCandidate: CaptureFacts {
    let thread: TracedThread
    let status: ThreadStatus
    let counters: SchedulerCounters
    let approach: BurstPolicy.Approach
    /// Whether it may have waited for something since the last look.
    let hasWaited: Bool
    let now: MonotonicTime
    let context: SessionContext
    let harm: StopHarm
    let timerStacks: TimerStacks

    var isSampledByTree: Bool { context.isSampledByTree(thread) }
    var wantsTimer: Bool { timerStacks.wantsTimer(thread) }
    var needsStop: Bool { context.stage.isSettling || context.isTracedForNothing(thread) }
    var mayReadForever: Bool { context.endlessFiles.areOpen(at: now) }
    var mayMeetLongCall: Bool { harm.mayMeetLongCall(thread, at: now) }
    var handlersBlock: Bool { context.handlersBlock }
    var isComputing: Bool { thread.calls.isComputing }
    var hasHandler: Bool { context.signalCapture != nil }
    var isMaskKnown: Bool { thread.statuses.knowsMask || !harm.someBlockOurs }
    var refusesSignal: Bool { obstacle != nil }
    var mayHarmOthers: Bool { harm.mayHarmOthers(thread) }

    /// What keeps our signal from it; nil: nothing.
    var obstacle: RecorderNote.Kind? {
        guard let signals = context.signalCapture else { return nil }
        // The thread may be on another stack when the signal comes.
        let hasRoom = signals.slots.hasAlternateStack(thread.tid)
        return signals.obstacle(thread, status, hasRoom: hasRoom)
    }
}
