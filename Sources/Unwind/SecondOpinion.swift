import Glibc
import ProfileModel
import System

/// What libunwind makes of stacks that our own walk cannot finish for want of a rule. A stack takes it
/// some hundred times as long, so there is a budget: a hundredth of the thread's CPU time, and a little
/// beforehand.
///
/// For one thread, and all the processes whose stacks that unwinds.
///
/// Unsafe code: the memory is allocated and freed here; walks write at most `Walk.frameLimit` frames.
package final class SecondOpinion {
    /// How many stacks it was asked of.
    package private(set) var asked: Int64 = 0
    /// How many of them it finished.
    package private(set) var saved: Int64 = 0
    /// How many it was not asked of, for the budget was used up.
    package private(set) var declined: Int64 = 0

    private let frames: UnsafeMutablePointer<WalkFrame>
    private var spent: Int64 = 0
    /// CPU time of threads that unwound with it before this one.
    private var earlier: Int64 = 0
    private let share: Int64

    /// In nanoseconds.
    private static let firstBudget: Int64 = 5_000_000
    /// Of the thread's CPU time.
    package static let usualShare: Int64 = 100

    /// - Parameter share: it takes one part of so many of the thread's CPU time; 1: there is no limit.
    package init(share: Int64 = usualShare) {
        self.share = share
        frames = .allocate(capacity: Walk.frameLimit)
    }

    deinit { frames.deallocate() }

    /// The thread that unwinds with it ends; another one may come.
    package func leaveThread() { earlier += Self.used }

    /// What another engine says of a stack that ends for want of a rule. It counts if it reaches the
    /// thread's entry function, and begins as ours.
    ///
    /// - Parameters:
    ///   - first: how many frames ours has.
    ///   - own: those, and where the answer is put; room for `Walk.frameLimit`.
    /// - Returns: how many it has; nil: nothing better.
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
