import CSystem
import Glibc
import ProfileModel

/// Keeps looks that cost CPU time to a hundredth of a core: in the long run, and with a little in
/// advance, because a launch is short.
struct LookBudget {
    /// What may be spent at once, and at the beginning.
    static let most = TimeSpan.milliseconds(5)
    /// No look, however dear, keeps the next away for longer than a hundred times this.
    static let deepestDebt = TimeSpan(nanoseconds: -200_000)
    private static let share: Int64 = 100

    private var credit = LookBudget.most
    private var last: MonotonicTime

    init(at now: MonotonicTime) { last = now }

    /// Whether the next look may begin.
    mutating func allows(at now: MonotonicTime) -> Bool {
        let earned = TimeSpan(nanoseconds: max(0, (now - last).nanoseconds) / Self.share)
        credit = min(Self.most, credit + earned)
        last = now
        return credit > .zero
    }

    mutating func spend(_ cost: TimeSpan) { credit = max(Self.deepestDebt, credit - cost) }

    /// Spends what a look costs: not by the clock on the wall, for we may be pushed off our core
    /// meanwhile.
    mutating func pay<Result>(for look: () -> Result) -> Result {
        let before = Self.ownCPU
        defer { spend(Self.ownCPU - before) }
        return look()
    }

    /// CPU time of this thread.
    private static var ownCPU: TimeSpan {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return TimeSpan(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
