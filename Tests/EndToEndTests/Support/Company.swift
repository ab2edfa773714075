import Glibc
import Testing

/// Tests run as many at once as there are cores: what a program does and what is told of it must be
/// right whatever else the machine does. Those marked ``Testing/Trait/alone`` run when no other is
/// under way.
struct Company: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?,
        performing body: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let isAlone = test.traits.contains { $0 is Alone }
        await Room.shared.enter(alone: isAlone)
        do {
            try await body()
        } catch {
            await Room.shared.leave()
            throw error
        }
        await Room.shared.leave()
    }
}

/// Marks a test, or a suite's tests, as one that compares figures with the truth, or to which the whole
/// machine matters.
struct Alone: TestTrait, SuiteTrait {
    let isRecursive = true
}

extension Trait where Self == Alone {
    static var alone: Self { Self() }
}

/// Where tests are run: some beside others, or one alone.
private actor Room {
    static let shared = Room()

    private var inside = 0
    private var isTakenAlone = false
    private var beside: [CheckedContinuation<Void, Never>] = []
    private var alone: [CheckedContinuation<Void, Never>] = []

    func enter(alone isAlone: Bool) async {
        if isAlone ? inside > 0 : isTakenAlone {
            // Whoever leaves has let it in when this returns.
            await withCheckedContinuation { waiting in
                if isAlone { alone.append(waiting) } else { beside.append(waiting) }
            }
            return
        }
        inside += 1
        isTakenAlone = isAlone
    }

    func leave() {
        inside -= 1
        guard inside == 0 else { return }
        isTakenAlone = false
        // Those that run beside others first: a test alone leaves a core idle.
        if !beside.isEmpty {
            inside = beside.count
            beside.forEach { $0.resume() }
            beside = []
        } else if let next = alone.popLast() {
            inside = 1
            isTakenAlone = true
            next.resume()
        }
    }
}
