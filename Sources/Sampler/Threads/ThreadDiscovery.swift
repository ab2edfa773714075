import ProcessIO
import ProfileModel

/// Finds threads that were not reported, and forgets those that are gone.
struct ThreadDiscovery: SessionPart {
    let context: SessionContext
    let register: ThreadRegister
    let signposts: SignpostReports

    /// A thread that ptrace reported along with its parent. nil if it belongs to another process (a
    /// clone that shares no thread group). Then it is released, unless children are followed.
    func adopt(_ tid: Int32, at now: MonotonicTime) -> TracedThread? {
        forgetLeft()
        if let known = threads[tid] { return known }
        let thread = process.thread(tid)
        guard process.isThread(tid) else {
            if !context.tracesChildren { try? thread.detach() }
            return nil
        }
        return register.addThread(thread, start: now, isNew: true)
    }

    func addNewThreads(at now: MonotonicTime) {
        forgetLeft()
        register.listNewThreads(at: now)
    }

    /// Forgets the threads that ended when they were no longer traced: their ids may be others'
    /// soon.
    private func forgetLeft() {
        let left = threads.values.filter { thread in
            thread.phase == .exited && !thread.tracing.isTraced && thread.tid != pid
                && thread.counters() == nil
        }
        // Signposts belong to the threads that wrote them only as long as the ids lead to these.
        if !left.isEmpty { signposts.reportSignposts(at: process.now, isLast: false) }
        for thread in left {
            context.threads.remove(thread.tid)
            signalCapture?.forget(thread)
        }
    }

    /// Whether no thread began since the last look. It relies on ``SessionContext/threads`` to hold
    /// every thread.
    var knowsAllThreads: Bool { process.threadIDs().allSatisfy { threads[$0] != nil } }
}
