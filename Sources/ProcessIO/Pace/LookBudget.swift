package import ProfileModel
import System

/// Limits looks that cost CPU time to a small part of a core. The limit holds in the long run. A
/// little may be spent in advance, because a launch is short.
package struct LookBudget {
    /// What may be spent at once, and at the beginning, if the part is a hundredth of a core.
    package static let most = TimeSpan.milliseconds(5)
    /// However long a look took, the next one waits no longer than it takes to earn this.
    package static let deepestDebt = TimeSpan(nanoseconds: -200_000)

    private let part: Int64
    private let most: TimeSpan
    private var credit: TimeSpan
    private var last: MonotonicTime

    /// - Parameter part: the part of a core that may be spent; 100 for a hundredth.
    package init(at now: MonotonicTime, part: Int64 = 100) {
        self.part = part
        most = TimeSpan(nanoseconds: Self.most.nanoseconds * 100 / part)
        credit = most
        last = now
    }

    /// Whether the next look may begin.
    package mutating func allows(at now: MonotonicTime) -> Bool {
        let earned = TimeSpan(nanoseconds: max(0, (now - last).nanoseconds) / part)
        credit = min(most, credit + earned)
        last = now
        return credit > .zero
    }

    package mutating func spend(_ cost: TimeSpan) { credit = max(Self.deepestDebt, credit - cost) }

    /// Spends the cost of a look. The cost is CPU time, not wall time, because the kernel may
    /// preempt us in the meantime.
    package mutating func pay<Result>(for look: () -> Result) -> Result {
        let before = CPUClock.ofThread
        defer { spend(CPUClock.ofThread - before) }
        return look()
    }
}
