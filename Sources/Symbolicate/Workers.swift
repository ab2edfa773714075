internal import Glibc
internal import Synchronization
internal import System

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
        let job = { @Sendable in
            var state = makeState()
            while let task = next.take(below: count) {
                let result = body(&state, task)
                results.withLock { $0[task] = result }
            }
        }
        // Where a thread cannot be had, the others do its part.
        let others = (1..<max(1, min(cores, count))).compactMap { _ in
            JobThread(stackSize: stackSize, job)
        }
        job()
        for thread in others { thread.join() }
        return results.withLock { $0.compactMap { $0 } }
    }

    /// Does something on a thread of its own, and something else on the calling one meanwhile.
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
