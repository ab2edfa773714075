import CSystem
import Glibc
import Synchronization

/// A thread that does one job and ends. The caller must either join or detach it.
package struct JobThread<Value: Sendable>: Sendable {
    private let thread: pthread_t
    private let result: Result

    private final class Result: Sendable {
        let value = Mutex<Value?>(nil)
    }

    /// nil: no thread is available, and nothing was done.
    ///
    /// - Parameter stackSize: in bytes; nil: the default.
    package init?(stackSize: Int? = nil, _ job: @escaping @Sendable () -> Value) {
        let result = Result()
        self.result = result
        let start = Start {
            let value = job()
            result.value.withLock { $0 = value }
        }
        guard let thread = start.begin(stackSize: stackSize) else { return nil }
        self.thread = thread
    }

    /// Waits until the job is done, and returns its result. Call it only once.
    @discardableResult
    package func join() -> Value? {
        pthread_join(thread, nil)
        return result.value.withLock { $0 }
    }

    /// For a thread that will not be joined.
    package func detach() { pthread_detach(thread) }
}

/// Runs a job on another thread, without waiting for it. False: no thread is available.
package func startThread(_ job: @escaping @Sendable () -> Void) -> Bool {
    guard let thread = JobThread(job) else { return false }
    thread.detach()
    return true
}

/// From now on the calling thread, when it wakes up, does not preempt another thread, but waits for
/// its turn. Its share of the cores stays the same.
package func pushNobodyOff() { _ = fl_push_nobody_off() }

/// The argument of a new thread.
///
/// Unsafe code: it is retained for the thread, which releases it.
private final class Start: Sendable {
    private let job: @Sendable () -> Void

    init(_ job: @escaping @Sendable () -> Void) { self.job = job }

    func begin(stackSize: Int?) -> pthread_t? {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }
        var thread = pthread_t()
        let handed = Unmanaged.passRetained(self)
        let status = pthread_create(
            &thread, &attributes,
            { start in
                if let start { Unmanaged<Start>.fromOpaque(start).takeRetainedValue().job() }
                return nil
            }, handed.toOpaque())
        if status == 0 { return thread }
        handed.release()
        return nil
    }
}
