import CSystem
import Glibc
import ProfileModel

/// Stops of threads that are waited for.
extension TraceSession {
    /// Stops all other threads that run, so that code can be changed under them.
    func stopOthers(than thread: TracedThread) -> [TracedThread] {
        threads.values.filter { other in
            guard other.tid != thread.tid, other.phase == .free,
                case .running = other.activity()
            else { return false }
            return stopNow(other) != nil
        }
    }

    /// Stops a thread and waits for it; where it would go on. Signals to it are passed on.
    func stopNow(_ thread: TracedThread) -> UInt64? {
        if !thread.isTraced, (try? thread.tracee.seize()) == nil { return nil }
        thread.isTraced = true
        for _ in 0..<64 {
            guard thread.isTraced else { return nil }
            var status: Int32 = 0
            // Asked to stop when it has stopped already, it would do so twice. And any other stop
            // takes the place of ours: then it is asked for again.
            if fl_wait(thread.tid, 1, &status) != thread.tid {
                guard (try? thread.tracee.interrupt()) != nil,
                    fl_wait(thread.tid, 0, &status) == thread.tid
                else { return nil }
            }
            guard let event = TraceEvent(status: status)
            else { return nil }
            switch event {
            case .stopped: return try? thread.tracee.resumeAddress()
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
        let deadline = MonotonicTime.now + .milliseconds(100)
        repeat {
            for thread in threads.values where thread.phase == .free {
                guard let activity = thread.activity() else { continue }
                if case .blocked(let call, let registers) = activity {
                    let kind = RestartingCalls.kind(of: call, registers, process: pid)
                    guard call >= 0, kind < .fragile else { continue }
                }
                guard let position = stopNow(thread) else { continue }
                if canBeLedAway(thread, at: position) { return thread }
                release(thread)
            }
            pause(microseconds: 500)
        } while MonotonicTime.now < deadline
        return nil
    }

    /// Whether a stopped thread may be made to go on elsewhere: from our own code it would never
    /// come back, and what it must find again is put aside on its stack.
    func canBeLedAway(_ thread: TracedThread, at position: UInt64) -> Bool {
        guard let pointer = try? thread.tracee.registers().stackPointer else { return false }
        thread.stackPointer = pointer
        return agent?.range.contains(position) != true && observer.stackPlace(of: thread).hasRoom
            && !thread.tracee.isInSequence
    }

    /// Stopped again before it had a core, it would not get on.
    func waitForCore(_ thread: TracedThread) {
        let before = thread.counters()?.slices
        let deadline = MonotonicTime.now + .milliseconds(20)
        repeat {
            pause(microseconds: 40)
        } while thread.counters()?.slices == before && MonotonicTime.now < deadline
    }

    /// Waits for something that usually is so already; whether it came to be.
    @discardableResult
    func wait(atMost limit: TimeSpan, until isSo: () -> Bool) -> Bool {
        let deadline = MonotonicTime.now + limit
        while !isSo() {
            guard MonotonicTime.now < deadline else { return false }
            pause(microseconds: 200)
        }
        return true
    }

    func pause(microseconds: Int) {
        var time = timespec(tv_sec: 0, tv_nsec: 1000 * microseconds)
        nanosleep(&time, nil)
    }
}
