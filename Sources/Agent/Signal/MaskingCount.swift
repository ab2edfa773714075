package import ProfileModel
import System

/// How many threads are about to block the signal. One may never come to that: a handler of the program's
/// has jumped out of it, or the thread was killed. So what stays for long is nobody.
package struct MaskingCount {
    private var seen: (count: UInt32, masks: UInt32, since: MonotonicTime)?
    private var resting: UInt32 = 0

    package static let longest = TimeSpan.milliseconds(1000)

    /// - Parameters:
    ///   - count: as the program has it.
    ///   - masks: how often threads have announced it.
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
