import CAgent
import CSystem
import ProfileModel

/// A process that is not traced: followed from outside.
extension TraceSession {
    /// Notices what ptrace would have reported: threads that came, another program, the end.
    func followUntraced(at now: MonotonicTime) {
        guard untraced != nil else { return }
        if untraced?.hasLostImage() == true {
            joinNextImage()
            return
        }
        followExecution()
        if untraced?.hasOtherThreads() == true { addNewThreads(at: now) }
    }

    func addNewThreads(at now: MonotonicTime) {
        for tid in files.threadIDs() where threads[tid] == nil {
            addThread(tid, start: now, isNew: true).isTraced = false
        }
    }

    /// A thread that is about to execute another program waits until it is traced: then nothing
    /// of the next program's launch is missed.
    func followExecution() {
        guard let area, area.isAboutToExecute else { return }
        // Which one it is does not show; it may be younger than the last look.
        addNewThreads(at: .now)
        for thread in threads.values where !thread.isTraced {
            if (try? thread.tracee.seize()) != nil { thread.isTraced = true }
        }
        // What was answered so far belongs to the program that is about to go.
        for thread in threads.values where thread.phase == .free {
            if let counters = thread.counters() { takeAnswer(of: thread, counters) }
        }
        isFollowingExecution = true
        executionDeadline = .now + .milliseconds(20)
        let number = area[\.next_area]
        area.followExecution()
        // Beside what the kernel does for the execve.
        if number >= 0,
            let next = Area(pid: pid, descriptor: number, stackBytes: options.stackBytes)
        {
            nextArea = InheritedArea(area: next, descriptor: number)
        }
    }

    /// The program was not executed: the threads are let go as they are stopped next.
    func abandonExecution() {
        isFollowingExecution = false
        nextArea = nil
        area?.forgetExecution()
    }

    /// The program that we watched is gone from the process: stops what is there now, if it is
    /// another program and not the end.
    private func joinNextImage() {
        // Without memory of its own it is about to end.
        guard let main = threads[pid], AuxiliaryVector(pid: pid).entry != 0 else {
            if !isOurChild, files.stat()?.isZombie != false { endUnseen() }
            return
        }
        // Its exec may have been seen after all, and wait to be told.
        let image = imageStart
        takeChanges()
        guard untraced != nil, imageStart == image, outcome == nil else { return }
        reportHooks(at: .now, isLast: true)
        leaveImage()
        for thread in threads.values where thread.tid != pid {
            end(thread, at: .now)
            threads[thread.tid] = nil
        }
        main.openFiles()
        main.stackPointer = nil
        main.phase = .free
        // Another thread's exec took the place of the one that may have been traced.
        main.isTraced = (try? main.tracee.interrupt()) != nil
        hasMissedExec = true
        note(.lateExec)
        stop(main)
    }

    /// What belonged to the program that is gone.
    func leaveImage() {
        untraced = nil
        signalCapture = nil
        area = nil
        observer.ownCode = nil
        hooks = nil
        linkerHook = nil
        linkerOfImage = nil
        cave = nil
        toldBorders = []
        hasToldGate = false
        hasServedGate = false
        marks?.leaveImage()
        isFollowingExecution = false
        for thread in threads.values {
            thread.slot = nil
            thread.silence = 0
        }
    }

    /// Whether a stop was the one that ``joinNextImage()`` wanted: the new image begins there.
    func takeMissedExec(_ thread: TracedThread, at now: MonotonicTime) -> Bool {
        guard hasMissedExec, thread.tid == pid else { return false }
        hasMissedExec = false
        thread.phase = .free
        beginImage(at: now, isLate: true)
        return true
    }

    // MARK: Ends

    /// A thread that is not traced ends without telling.
    func forget(_ thread: TracedThread, at now: MonotonicTime) {
        guard !thread.isTraced, thread.phase != .exited else { return }
        // Its last answer stands for most of what was not told yet.
        takeAnswer(of: thread, thread.clock.counters)
        signalCapture?.forget(thread)
        thread.samples = nil
        guard thread.tid != pid else { return end(thread, at: now) }
        threads[thread.tid] = nil
        if schedule == nil { end(thread, at: now) } else { leaving.append(thread) }
    }

    /// Our own child has ended while nobody traced it, and waits for us to take note: its last
    /// figures can still be read.
    func observeEnd() {
        guard isOurChild, untraced != nil, finalCPU == nil, fl_has_ended(pid) == 1 else { return }
        takeFinalCPU()
        finalCounters = files.counters()
        let rest = threads.values.filter { $0.phase != .exited }
        for thread in rest { takeAnswer(of: thread, thread.counters() ?? thread.clock.counters) }
        reportSchedule(isLast: true)
        let now = min(.now, exitTime ?? .now)
        reportBorders(at: now)
        for thread in rest {
            // Of the others nothing can be read any more. One that waited, waited to the end.
            if thread.tid != pid, thread.tally.end != nil {
                observer.closeAfterEnd(of: thread)
            } else if thread.tid == pid || thread.blocked != nil {
                observer.close(thread, at: now)
            }
        }
    }

    /// A process that is not our child is gone.
    private func endUnseen() {
        for thread in threads.values where thread.phase != .exited {
            if thread.blocked != nil { observer.close(thread, at: .now) }
            end(thread, at: .now)
        }
        reportSchedule(isLast: true)
        mark(.ended, at: .now)
        outcome = .unknown
    }
}
