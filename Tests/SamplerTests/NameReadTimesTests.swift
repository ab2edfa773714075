import ProfileModel
import Testing

@testable import Sampler

/// When a thread's name is read again.
@Suite struct NameReadTimesTests {
    private static let start = MonotonicTime(nanoseconds: 7_000_000_000)

    private static func at(_ milliseconds: Int64) -> MonotonicTime {
        start + .milliseconds(milliseconds)
    }

    /// The ages, in milliseconds, at which ticks in this distance read the name.
    private func reads(everyMilliseconds distance: Int, until end: Int = 300) -> [Int] {
        var times = NameReadTimes(start: Self.start)
        var found: [Int] = []
        for age in stride(from: 0, through: end, by: distance) {
            let now = Self.at(Int64(age))
            guard times.isDue(at: now) else { continue }
            times.noteRead(at: now)
            found.append(age)
        }
        return found
    }

    @Test func oftenAtFirstAndThenNoMore() {
        #expect(reads(everyMilliseconds: 1) == [1, 2, 3, 5, 10, 20, 50])
    }

    /// Ages that no tick met are made up for once, not one by one.
    @Test func missedTicks() {
        #expect(reads(everyMilliseconds: 4) == [4, 8, 12, 20, 52])
        #expect(reads(everyMilliseconds: 30) == [30, 60])
        #expect(reads(everyMilliseconds: 100) == [100])
    }

    @Test func theLastReadEndsIt() {
        var times = NameReadTimes(start: Self.start)
        #expect(!times.isOver)
        times.noteRead(at: Self.at(49))
        #expect(!times.isOver)
        times.noteRead(at: Self.at(50))
        #expect(times.isOver)
        #expect(!times.isDue(at: Self.at(1_000_000)))
    }

    /// A thread that is found at an earlier moment than it began is not due.
    @Test func clocksThatDisagree() {
        let times = NameReadTimes(start: Self.start)
        #expect(!times.isDue(at: Self.at(-5)))
        #expect(!times.isDue(at: Self.at(0)))
    }

    // MARK: The budget

    @Test func soManyReadsATick() {
        var budget = NameBudget()
        for tick in 1...3 as ClosedRange<Int64> {
            let granted = (0..<100).filter { _ in budget.takeRead(at: Self.at(tick)) }
            #expect(granted.count == NameBudget.readsPerTick)
        }
    }

    /// A thread that had to wait at one tick has its turn at the next ones: no thread is forgotten.
    @Test(arguments: [1, 10, 200]) func everyThreadHasItsTurn(count: Int) {
        var budget = NameBudget()
        var threads = [NameReadTimes](repeating: NameReadTimes(start: Self.start), count: count)
        var reads = [Int](repeating: 0, count: count)
        for tick in 1...2000 as ClosedRange<Int64> {
            let now = Self.at(tick)
            for index in threads.indices
            where threads[index].isDue(at: now) && budget.takeRead(at: now) {
                threads[index].noteRead(at: now)
                reads[index] += 1
            }
        }
        #expect(threads.allSatisfy { $0.isOver })
        #expect(reads.allSatisfy { $0 >= 1 })
    }
}
