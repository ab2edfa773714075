import Foundation
import Glibc
package import Testing

/// Tests mostly wait for programs that they have started. So twice as many run at once as there are cores,
/// on threads of their own: Swift's threads, one a core, would all be blocked.
package struct Width: SuiteTrait, TestTrait, TestScoping {
    package let isRecursive = true

    package init() {}

    package func provideScope(
        for test: Test, testCase: Test.Case?,
        performing body: @concurrent @Sendable () async throws -> Void
    ) async throws {
        // A suite's own scope is around all its tests, and must not keep them from running.
        guard testCase != nil else { return try await body() }
        try await withTaskExecutorPreference(BlockableThreads.shared) { try await body() }
    }
}

/// Threads that run one job after the other, and may be blocked by it.
private final class BlockableThreads: TaskExecutor {
    static let shared = BlockableThreads(
        count: 2 * max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))))

    private let jobs = Jobs()

    init(count: Int) {
        for _ in 0..<count {
            let jobs = jobs
            Thread.detachNewThread { [self] in
                while true { jobs.next().runSynchronously(on: asUnownedTaskExecutor()) }
            }
        }
    }

    func enqueue(_ job: consuming ExecutorJob) { jobs.add(UnownedJob(job)) }
}

/// A queue that threads wait for.
private final class Jobs: @unchecked Sendable {
    private let condition = NSCondition()
    private var waiting: [UnownedJob] = []

    func add(_ job: UnownedJob) {
        condition.withLock { waiting.append(job) }
        condition.signal()
    }

    func next() -> UnownedJob {
        condition.lock()
        defer { condition.unlock() }
        while waiting.isEmpty { condition.wait() }
        return waiting.removeFirst()
    }
}
