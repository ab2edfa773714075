internal import Glibc
internal import Synchronization
internal import System

/// Runs many independent tasks on as many threads as there are cores, including the calling one.
package enum Workers {
    /// More threads would only wait for memory.
    private static let mostThreads = 8
    /// Demanglers recurse; see ``Demangler/longestInput``.
    private static let stackSize = 8 << 20

    private static let cores = max(1, min(Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))), mostThreads))

    /// The results of the tasks `0..<count`, in their order.
    /// - Parameters:
    ///   - makeState: makes the state that a thread keeps from one task to the next.
    ///   - body: called on several threads at once, each with its own state.
    package static func map<State, Result: Sendable>(
        _ count: Int, makeState: @escaping @Sendable () -> State,
        _ body: @escaping @Sendable (inout State, Int) -> Result
    ) -> [Result] {
        let next = Counter()
        let results = Mutex<[Result?]>(Array(repeating: nil, count: count))
        let job = { @Sendable in
            var state = makeState()
            while let task = next.take(below: count) {
                let result = body(&state, task)
                results.withLock { $0[task] = result }
            }
        }
        // If a thread cannot be started, the others do its part.
        let others = (1..<max(1, min(cores, count))).compactMap { _ in
            JobThread(stackSize: stackSize, job)
        }
        job()
        for thread in others { thread.join() }
        return results.withLock { $0.compactMap { $0 } }
    }

    /// Runs a task on another thread while the calling thread runs `body`.
    /// - Returns: the other thread's result.
    package static func run<Result: Sendable>(
        _ other: @escaping @Sendable () -> Result, while body: () -> Void
    ) -> Result {
        let thread = JobThread(stackSize: stackSize, other)
        body()
        return thread?.join() ?? other()
    }

    private final class Counter: Sendable {
        private let value = Atomic<Int>(0)

        func take(below limit: Int) -> Int? {
            let taken = value.wrappingAdd(1, ordering: .relaxed).oldValue
            return taken < limit ? taken : nil
        }
    }
}
