// For the C library's types, which this module meets there first.
internal import CElfutils
internal import Glibc
internal import Synchronization

/// Does many independent tasks on as many threads as there are cores, the calling one included.
package enum Workers {
    /// More would only wait for memory.
    private static let mostThreads = 8
    /// Demanglers recurse; see ``Demangler/longestInput``.
    private static let stackSize = 8 << 20

    private static let cores = max(1, min(Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))), mostThreads))

    /// The results of the tasks `0..<count`, in their order.
    /// - Parameters:
    ///   - makeState: what a thread keeps from one of its tasks to the next.
    ///   - body: called on several threads at once, each with a state of its own.
    package static func map<State, Result: Sendable>(
        _ count: Int, makeState: @escaping @Sendable () -> State,
        _ body: @escaping @Sendable (inout State, Int) -> Result
    ) -> [Result] {
        let next = Counter()
        let results = Mutex<[Result?]>(Array(repeating: nil, count: count))
        let crew = Crew {
            var state = makeState()
            while let task = next.take(below: count) {
                let result = body(&state, task)
                results.withLock { $0[task] = result }
            }
        }
        crew.work(threads: min(cores, count))
        return results.withLock { $0.compactMap { $0 } }
    }

    /// Does something on a thread of its own, and something else on the calling one meanwhile.
    /// - Returns: the other thread's result.
    package static func run<Result: Sendable>(
        _ other: @escaping @Sendable () -> Result, while body: () -> Void
    ) -> Result {
        let result = Later<Result>()
        Crew { result.value.withLock { $0 = other() } }.work(while: body)
        // The other thread has ended.
        return result.value.withLock { $0 } ?? other()
    }

    private final class Later<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
    }

    private final class Counter: Sendable {
        private let value = Atomic<Int>(0)

        func take(below limit: Int) -> Int? {
            let taken = value.wrappingAdd(1, ordering: .relaxed).oldValue
            return taken < limit ? taken : nil
        }
    }

    private final class Crew: Sendable {
        private let job: @Sendable () -> Void

        init(_ job: @escaping @Sendable () -> Void) { self.job = job }

        /// Where a thread cannot be had, the others do its part.
        func work(threads: Int) {
            let others = (1..<max(1, threads)).compactMap { _ in start() }
            job()
            for thread in others { pthread_join(thread, nil) }
        }

        func work(while body: () -> Void) {
            let other = start()
            body()
            if let other { pthread_join(other, nil) } else { job() }
        }

        private func start() -> pthread_t? {
            var attributes = pthread_attr_t()
            pthread_attr_init(&attributes)
            defer { pthread_attr_destroy(&attributes) }
            pthread_attr_setstacksize(&attributes, Workers.stackSize)
            var thread = pthread_t()
            // Balanced by the thread itself, or below if there is none.
            let this = Unmanaged.passRetained(self)
            let status = pthread_create(
                &thread, &attributes,
                { argument in
                    if let argument {
                        Unmanaged<Crew>.fromOpaque(argument).takeRetainedValue().job()
                    }
                    return nil
                }, this.toOpaque())
            if status == 0 { return thread }
            this.release()
            return nil
        }
    }
}
