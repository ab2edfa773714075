import Glibc

/// Runs `body` on a thread of its own and waits for it.
///
/// ptrace ties what is traced to the thread that began it, and lets go of everything, without
/// one more stop, when that thread ends: the gentlest way to leave a process alone again.
///
/// - Parameter parent: what the calling thread serves meanwhile; `body` says when that is over.
func onTracerThread<Value: Sendable>(
    serving parent: ParentThread? = nil, _ body: @escaping @Sendable () -> Value
) -> Value? {
    let box = Box(body)
    var thread = pthread_t()
    let failure = pthread_create(
        &thread, nil,
        { argument in
            // Balanced by the retain below.
            if let argument { Unmanaged<AnyWork>.fromOpaque(argument).takeRetainedValue().run() }
            return nil
        }, Unmanaged<AnyWork>.passRetained(box).toOpaque())
    guard failure == 0 else {
        Unmanaged<AnyWork>.passUnretained(box).release()
        return nil
    }
    parent?.serve()
    pthread_join(thread, nil)
    return box.value
}

/// Runs `body` on a thread of its own, for which nobody waits; not at all if there is none to be had.
func beside(_ body: @escaping @Sendable () -> Void) {
    let work = Unmanaged<AnyWork>.passRetained(Box(body))
    var thread = pthread_t()
    let failure = pthread_create(
        &thread, nil,
        { argument in
            if let argument { Unmanaged<AnyWork>.fromOpaque(argument).takeRetainedValue().run() }
            return nil
        }, work.toOpaque())
    if failure == 0 { pthread_detach(thread) } else { work.release() }
}

private class AnyWork {
    func run() {}
}

private final class Box<Value: Sendable>: AnyWork {
    private let body: @Sendable () -> Value
    private(set) var value: Value?

    init(_ body: @escaping @Sendable () -> Value) {
        self.body = body
    }

    override func run() { value = body() }
}
