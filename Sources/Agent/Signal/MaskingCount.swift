package import ProfileModel
import System

/// How many threads are about to block the signal. A thread may never do that: a handler of the
/// program's has jumped out of it, or the thread was killed. So a count that has not changed for
/// ``longest`` is ignored.
package struct MaskingCount {
    private var seen: (count: UInt32, masks: UInt32, since: MonotonicTime)?
    private var resting: UInt32 = 0

    package static let longest = TimeSpan.milliseconds(1000)

    /// - Parameters:
    ///   - count: the program's count.
    ///   - masks: how often threads have announced that they will block it.
    package mutating func look(
        _ count: UInt32, at masks: UInt32, now: @autoclosure () -> MonotonicTime = .now
    ) -> Bool {
        guard count != resting else { return false }
        let now = now()
        guard let seen, seen.count == count, seen.masks == masks else {
            self.seen = (count, masks, now)
            return true
        }
        guard now - seen.since > Self.longest else { return true }
        resting = count
        return false
    }
}
