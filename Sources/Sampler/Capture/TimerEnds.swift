import Agent

/// Ends threads' timers (``TimerStacks``).
struct TimerEnds: SessionPart {
    let context: SessionContext

    /// Ends a thread's timer. The thread's answer to the last signal can still be taken.
    func endTimer(of thread: TracedThread) {
        guard thread.timing.timer != nil else { return }
        signalCapture?.endTimer(of: thread)
        thread.samples = nil
        thread.timing.forgetLater()
    }

    func endTimers() {
        for thread in threads.values { endTimer(of: thread) }
    }

    /// Ends the timers as soon as the program is about to change their signal's action, or to
    /// execute another program. The program waits for that.
    func watchTimers() {
        for thread in threads.values {
            guard let timer = thread.timing.timer else { continue }
            let isToEnd =
                area?.isAboutToExecute == true
                || signalCapture?.isOutdated(timer) != false
            if isToEnd { endTimer(of: thread) }
        }
    }
}
