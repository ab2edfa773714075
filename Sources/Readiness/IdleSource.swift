package import ProfileModel

/// `idle`: no thread of the process has had a core for a while, and none waits for the disk.
///
/// The launch was over at the start of that while, not when we became sure of it.
package final class IdleSource: ReadySource {
    private let span: TimeSpan
    private var quiet: (since: MonotonicTime, signature: UInt64)?
    private var found: MonotonicTime?

    package init(_ span: TimeSpan) { self.span = span }

    package func look(at now: MonotonicTime, in launch: any LaunchView) -> MonotonicTime? {
        guard found == nil else { return found }
        guard let signature = launch.blockedSignature else {
            quiet = nil
            return nil
        }
        guard let quiet, quiet.signature == signature else {
            self.quiet = (now, signature)
            return nil
        }
        guard now - quiet.since >= span else { return nil }
        // Checked last, because it is expensive. A thread in a page fault counts as blocked, too.
        // If its page has just arrived, the thread no longer waits for the disk, but will go on.
        if launch.waitsForDisk || launch.blockedSignature != signature {
            self.quiet = nil
            return nil
        }
        found = quiet.since
        return found
    }

    /// Identifies the set of waits that the threads are in; nil: a thread is not blocked, or there
    /// are no threads.
    package static func signature(of threads: some Sequence<(Int32, UInt32?)>) -> UInt64? {
        var sum: UInt64 = 0
        var isEmpty = true
        for (tid, serial) in threads {
            guard let serial else { return nil }
            // splitmix64's finish (Steele, Lea, Flood 2014), for sums that do not collide.
            var word = UInt64(UInt32(bitPattern: tid)) << 32 | UInt64(serial)
            word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
            word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
            sum &+= word ^ word >> 31
            isEmpty = false
        }
        return isEmpty ? nil : sum
    }
}
