import ProcessIO
import ProfileModel

/// Enters threads into a session, and takes them out of its account.
struct ThreadRegister: SessionPart {
    let context: SessionContext

    @discardableResult
    func addThread(
        _ access: any ThreadAccess, start: MonotonicTime, isNew: Bool, isTraced: Bool = true
    ) -> TracedThread {
        let thread = TracedThread(
            access, index: threads.next, start: start, isNew: isNew,
            isTraced: isTraced)
        add(thread, start: start)
        return thread
    }

    func add(_ thread: TracedThread, start: MonotonicTime) {
        context.threads.add(thread)
        if let tree = context.tree { sample(thread, by: tree) }
        context.scheduler.follow(thread.tid)
        sink.receive(
            .threadStarted(
                RecordedThread(
                    tid: thread.tid, name: thread.name, start: start, isMain: thread.tid == pid)))
    }

    func rename(_ thread: TracedThread) {
        if thread.refreshName() { sink.receive(.threadNamed(thread.index, thread.name)) }
    }

    func end(_ thread: TracedThread, at now: MonotonicTime) {
        guard thread.phase != .exited else { return }
        thread.exit()
        thread.timing.end()
        guard !context.isClosed else { return }
        observer.closeWait(of: thread)
        observer.interpreters.forget(thread.tid)
        ledger.ended(thread, interval: options.sampleInterval)
        sink.receive(.threadEnded(thread.index, thread.clock.time))
    }

    /// Enters threads that were not reported. ``ThreadDiscovery/addNewThreads(at:)`` first forgets
    /// those that are gone; here their data is still needed.
    func listNewThreads(at now: MonotonicTime) {
        for tid in process.threadIDs() where threads[tid] == nil {
            addThread(
                process.thread(tid), start: now, isNew: true,
                isTraced: stage.image?.untraced == nil)
        }
    }

    /// A thread's stacks are taken by events from its beginning on.
    private func sample(_ thread: TracedThread, by tree: TreeSamples) {
        thread.samples = ThreadSamples(
            tid: thread.tid, cpu: thread.clock.counters.run, interval: options.sampleInterval,
            of: tree)
        if tree.isUserOnly { ledger.note(.kernelUnsampled, 1) }
    }
}

/// Every known thread of a process that is not gone, by id. For safety none may be left out,
/// recorded or not: only listed threads are stopped before code is changed, and that is tried again
/// as long as a thread is not listed (``ThreadDiscovery/knowsAllThreads``).
struct ThreadTable {
    private var threads: [Int32: TracedThread] = [:]
    /// The index of the thread that comes next.
    private(set) var next = ThreadIndex(0)

    subscript(tid: Int32) -> TracedThread? { threads[tid] }
    var values: Dictionary<Int32, TracedThread>.Values { threads.values }
    var count: Int { threads.count }

    mutating func add(_ thread: TracedThread) {
        next = ThreadIndex(next.rawValue + 1)
        threads[thread.tid] = thread
    }

    @discardableResult
    mutating func remove(_ tid: Int32) -> TracedThread? { threads.removeValue(forKey: tid) }
}
