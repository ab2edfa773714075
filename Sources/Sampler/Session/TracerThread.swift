import Glibc

/// Runs `body` on a thread of its own and waits for it.
///
/// ptrace ties what is traced to the thread that began it, and lets go of everything, without
/// one more stop, when that thread ends: the gentlest way to leave a process alone again.
func onTracerThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value? {
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
    pthread_join(thread, nil)
    return box.value
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
