import Glibc
import Synchronization

/// Descriptors that stay free for the files that a recording must open: its file and journal, the
/// files under `/proc` that are read one after another, the files that are read at its end.
///
/// Files that are kept open only for convenience (a thread's files, its events) may have only
/// numbers below a border. The kernel gives out the lowest free number. So everything above the
/// border stays free without being counted, and no thread can take it between two calls of another.
package enum DescriptorReserve {
    /// How many must be free before a recording begins. A recording with `--last` that is joined,
    /// or a recording that is symbolicated, has some twenty files open at once.
    package static let least = 32
    /// How many of them the soft limit must allow, which the program keeps: a recorder raises its own
    /// limit only when the program's process exists, and a measurement never does.
    package static let leastBefore = 24
    /// How many descriptors are reserved if the limit allows.
    private static let usual: Int32 = 256

    /// Below 0: nothing was reserved.
    private static let border = Atomic<Int32>(-1)

    /// So few files may be open that a recording could be lost.
    package struct Shortage: Error, Hashable, Sendable {
        package var limit: UInt64
        package var needed: Int
    }

    /// Looks whether enough descriptors are free, and keeps them free from now on.
    package static func keep() throws(Shortage) {
        let limit = limits()
        guard let lowest = lowest(of: least, below: limit.hard) else {
            throw Shortage(limit: UInt64(limit.hard), needed: least)
        }
        try require()
        border.store(min(lowest, usualBorder(limit.hard)), ordering: .relaxed)
    }

    /// Looks whether enough descriptors are free to start a program, without raising the limit.
    package static func require() throws(Shortage) {
        let soft = limits().soft
        guard lowest(of: leastBefore, below: soft) != nil else {
            throw Shortage(limit: UInt64(soft), needed: leastBefore)
        }
    }

    /// True if an open descriptor may be kept. Otherwise the caller must close it, and do without.
    package static func leaves(_ number: Int32) -> Bool {
        let border = border.load(ordering: .relaxed)
        return number < (border < 0 ? usualBorder(limits().soft) : border)
    }

    /// Under a small limit, half of the descriptors may be kept open.
    private static func usualBorder(_ limit: Int32) -> Int32 { max(limit - usual, limit / 2) }

    /// How many may be kept open under a limit, if none is open before.
    package static func kept(of limit: UInt64) -> UInt64 {
        let limit = Int32(clamping: limit)
        return UInt64(max(0, min(usualBorder(limit), limit - Int32(least))))
    }

    private static func limits() -> (soft: Int32, hard: Int32) {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return (Int32(clamping: limit.rlim_cur), Int32(clamping: limit.rlim_max))
    }

    /// The lowest of the last `count` free numbers; nil: there are fewer.
    private static func lowest(of count: Int, below limit: Int32) -> Int32? {
        var (number, free) = (limit, 0)
        while free < count {
            guard number > 0 else { return nil }
            number -= 1
            if fcntl(number, F_GETFD) == -1 { free += 1 }
        }
        return number
    }
}

extension Descriptor {
    /// Opens a file that is to be kept open. nil also if that would leave too few descriptors.
    package init?(keeping path: String, _ flags: Int32 = O_RDONLY) {
        guard let file = try? Descriptor(path, flags), DescriptorReserve.leaves(file.number) else {
            return nil
        }
        self = file
    }
}
