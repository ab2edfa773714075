import Glibc

/// Runs `body` on a thread of its own, which is not waited for. False: there can be none.
package func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
    var thread = pthread_t()
    let work = Unmanaged<Work>.passRetained(Work(body))
    let failure = pthread_create(
        &thread, nil,
        { argument in
            // Balanced by the retain above.
            if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body() }
            return nil
        }, work.toOpaque())
    guard failure == 0 else {
        work.release()
        return false
    }
    pthread_detach(thread)
    return true
}

private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
