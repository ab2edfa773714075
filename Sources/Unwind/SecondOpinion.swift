import Glibc
import ProfileModel
import System

/// Asks libunwind about stacks that our own walk cannot finish for lack of a rule. libunwind takes
/// some hundred times as long for a stack. So there is a budget: a hundredth of the thread's CPU
/// time, plus a little to begin with.
///
/// For one thread, and all processes whose stacks this thread unwinds.
///
/// Unsafe code: the memory is allocated and freed here; walks write at most `Walk.frameLimit`
/// frames.
package final class SecondOpinion {
    /// How many stacks libunwind was asked about.
    package private(set) var asked: Int64 = 0
    /// How many of them libunwind finished.
    package private(set) var saved: Int64 = 0
    /// How many stacks libunwind was not asked about because the budget was used up.
    package private(set) var declined: Int64 = 0

    private let frames: UnsafeMutablePointer<WalkFrame>
    private var spent: Int64 = 0
    /// CPU time of threads that used it before this one.
    private var earlier: Int64 = 0
    private let share: Int64

    /// In nanoseconds.
    private static let firstBudget: Int64 = 5_000_000
    /// Of the thread's CPU time.
    package static let usualShare: Int64 = 100

    /// - Parameter share: it may take one part in this many of the thread's CPU time; 1: no limit.
    package init(share: Int64 = usualShare) {
        self.share = share
        frames = .allocate(capacity: Walk.frameLimit)
    }

    deinit { frames.deallocate() }

    /// The thread that uses it ends; another one may follow.
    package func leaveThread() { earlier += Self.used }

    /// Asks another engine about a stack that ends for lack of a rule. The answer counts if it
    /// reaches the thread's entry function, and begins with the same frames as ours.
    ///
    /// - Parameters:
    ///   - first: how many frames ours has.
    ///   - own: our frames, to be replaced by the answer; room for `Walk.frameLimit`.
    /// - Returns: the number of frames; nil: nothing better.
    func improve(
        _ first: Int, _ own: UnsafeMutablePointer<WalkFrame>,
        by walk: (UnsafeMutablePointer<WalkFrame>) -> (count: Int, truncation: Truncation?)
    ) -> Int? {
        let start = Self.used
        guard share == 1 || spent < Self.firstBudget + (earlier + start) / share else {
            declined += 1
            return nil
        }
        asked += 1
        let (count, truncation) = walk(frames)
        spent += Self.used - start
        guard truncation == nil, count > first,
            (0..<first).allSatisfy({ frames[$0].isSame(as: own[$0]) })
        else { return nil }
        saved += 1
        (own + first).update(from: frames + first, count: count - first)
        return count
    }

    /// CPU time of this thread, in nanoseconds.
    private static var used: Int64 { CPUClock.ofThread.nanoseconds }
}

extension WalkFrame {
    fileprivate func isSame(as other: WalkFrame) -> Bool {
        address == other.address && module == other.module
    }
}
