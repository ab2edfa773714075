import ProfileModel
import Testing

@testable import Sampler

/// A thread that has forked a moment ago is not stopped: other threads' waits would end.
struct RecentForksTests {
    /// The answer to each look, given the children and the time in milliseconds.
    private func answers(_ looks: [(String, Int64)]) -> [Bool] {
        var forks = RecentForks()
        let start = MonotonicTime(nanoseconds: 5_000_000_000)
        return looks.map { children, time in
            forks.look(Array(children.utf8), at: start + .milliseconds(time))
        }
    }

    /// The last one has ended, and the next may come.
    @Test func aThreadThatForkedLatelyMayForkAgain() {
        let looks = answers([("", 0), ("12 ", 0), ("", 10), ("", 1000), ("13 ", 1001)])
        #expect(looks == [false, true, true, false, true])
    }

    @Test func childrenThatStayEndLate() {
        let looks = answers([("12 ", 0), ("12 ", 999), ("12 ", 1000), ("12 14 ", 1500)])
        #expect(looks == [true, true, false, true])
    }
}
