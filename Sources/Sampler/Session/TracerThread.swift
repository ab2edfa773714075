import System

/// Runs `body` on a thread of its own and waits for it. nil: there can be no more threads.
///
/// ptrace ties what is traced to the thread that began it, and lets go of everything, without
/// one more stop, when that thread ends: the gentlest way to leave a process alone again.
///
/// - Parameter parent: what the calling thread serves meanwhile; `body` says when that is over.
func onTracerThread<Value: Sendable>(
    serving parent: ParentThread? = nil, _ body: @escaping @Sendable () -> Value
) -> Value? {
    guard let thread = JobThread(body) else { return nil }
    parent?.serve()
    return thread.join()
}
