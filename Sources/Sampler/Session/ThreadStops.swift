import ProfileModel

/// Stops of threads that are waited for.
extension TraceSession {
    /// Stops all other threads that run, so that code can be changed under them.
    ///
    /// - Parameter thread: one that is stopped; nil: none is.
    func stopOthers(than thread: TracedThread?) -> [TracedThread] {
        threads.values.filter { other in
            guard other.tid != thread?.tid, isRunning(other) else { return false }
            return stopNow(other) != nil
        }
    }

    func isRunning(_ thread: TracedThread) -> Bool {
        // One that was asked to stop for a sample may have done so, and must be taken note of.
        if case .interrupted = thread.phase { return true }
        guard thread.phase == .free, case .running = thread.activity() else { return false }
        return true
    }

    /// Stops a thread and waits for it; where it would go on. Signals to it are passed on.
    func stopNow(_ thread: TracedThread) -> UInt64? {
        if !thread.isTraced, (try? thread.tracee.seize()) == nil { return nil }
        thread.isTraced = true
        for _ in 0..<64 {
            guard thread.isTraced else { return nil }
            // Asked to stop when it has stopped already, it would do so twice. And any other stop
            // takes the place of ours: then it is asked for again.
            var report = process.nextReport(of: thread.tid)
            if report == nil {
                guard (try? thread.tracee.interrupt()) != nil else { return nil }
                report = process.awaitReport(of: thread.tid)
            }
            guard let event = report?.event else { return nil }
            switch event {
            case .stopped:
                thread.phase = .free
                return try? thread.tracee.resumeAddress()
            case .signal(let number): try? thread.tracee.resume(delivering: number)
            default:
                take(event, of: thread.tid)
                if thread.phase == .exited { return nil }
            }
        }
        return nil
    }

    /// Some thread, stopped, without having ended a call by it: one that runs, or waits in a call
    /// that is restarted. nil when none can be had within a tenth of a second.
    func stopAny() -> TracedThread? {
        let deadline = process.now + .milliseconds(100)
        repeat {
            for thread in threads.values where mayStop(thread) {
                guard let position = stopNow(thread) else { continue }
                if canBeLedAway(thread, at: position) { return thread }
                release(thread)
            }
            pause(microseconds: 500)
        } while process.now < deadline
        return nil
    }

    private func mayStop(_ thread: TracedThread) -> Bool {
        // Asked already, for a sample.
        if case .interrupted = thread.phase { return true }
        guard thread.phase == .free, let activity = thread.activity() else { return false }
        guard case .blocked(let call, let registers) = activity else { return true }
        return call >= 0 && RestartingCalls.kind(of: call, registers, process: pid) < .fragile
    }

    /// Whether a stopped thread may be made to go on elsewhere: from our own code it would never
    /// come back, and what it must find again is put aside on its stack.
    func canBeLedAway(_ thread: TracedThread, at position: UInt64) -> Bool {
        guard let pointer = try? thread.tracee.registers().stackPointer else { return false }
        thread.stackPointer = pointer
        return area?.range.contains(position) != true && observer.stackPlace(of: thread).hasRoom
            && !thread.tracee.isInSequence
    }

    /// Stopped again before it had a core, it would not get on.
    func waitForCore(_ thread: TracedThread) {
        let before = thread.counters()?.slices
        let deadline = process.now + .milliseconds(20)
        repeat {
            pause(microseconds: 40)
        } while thread.counters()?.slices == before && process.now < deadline
    }

    /// Waits for something that usually is so already; whether it came to be.
    ///
    /// - Parameter interval: how long to pause between two looks, in microseconds.
    @discardableResult
    func wait(atMost limit: TimeSpan, every interval: Int = 200, until isSo: () -> Bool) -> Bool {
        let deadline = process.now + limit
        while !isSo() {
            guard process.now < deadline else { return false }
            pause(microseconds: interval)
        }
        return true
    }

    func pause(microseconds: Int) { process.pause(microseconds: microseconds) }
}
