import System

/// Runs `body` on a thread of its own and waits for it. nil: no more threads can be made.
///
/// ptrace ties each traced thread to the thread that began to trace it. When that thread ends, the
/// kernel detaches from everything without another stop. There is no gentler way to leave a process
/// alone again.
///
/// - Parameter parent: the calling thread serves its requests in the meantime; `body` says when no
///   more will come.
package func onTracerThread<Value: Sendable>(
    serving parent: ParentThread? = nil, _ body: @escaping @Sendable () -> Value
) -> Value? {
    guard let thread = JobThread(body) else { return nil }
    parent?.serve()
    return thread.join()
}
