import System

/// Runs `body` on a thread of its own and waits for it. nil: no more threads can be made.
///
/// ptrace ties what is traced to the thread that began it. When that thread ends, the kernel lets
/// go of everything without another stop. There is no gentler way to leave a process alone again.
///
/// - Parameter parent: what the calling thread serves meanwhile; `body` says when that is over.
package func onTracerThread<Value: Sendable>(
    serving parent: ParentThread? = nil, _ body: @escaping @Sendable () -> Value
) -> Value? {
    guard let thread = JobThread(body) else { return nil }
    parent?.serve()
    return thread.join()
}
