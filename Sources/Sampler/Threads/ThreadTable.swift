import ProfileModel

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
