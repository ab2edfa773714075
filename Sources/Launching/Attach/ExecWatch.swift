package import ProfileModel

/// Decides which processes to look at, and when, so that we soon notice every program that one of
/// them executes. Pure: the caller reports its findings.
///
/// A young process is likely to execute a program soon. We look at it in intervals of a fiftieth of
/// its age, at first whenever we can. Once that interval reaches ``longestInterval``, the scans of
/// all processes are enough.
package struct ExecWatch {
    private struct Young {
        var noticed: MonotonicTime
        var due: MonotonicTime
    }

    /// An id may be given out an instant before its process appears in `/proc`. A process that has
    /// not appeared after this time has already gone.
    package static let appearance = TimeSpan.milliseconds(5)
    /// At longer intervals the scans of all processes are enough.
    package static let longestInterval = TimeSpan.milliseconds(50)
    private static let ageOfInterval: Int64 = 50
    /// If more new ids than this were given out, a scan must find them.
    private static let mostNewIDs = 4096

    private var newest: Int32?
    private var young: [Int32: Young] = [:]
    /// The program that each process ran at the last look.
    private var images: [Int32: ProcessImage.Identity] = [:]
    private var kernelThreads: Set<Int32> = []

    /// Takes the latest id that the kernel gave out. False: the ids have wrapped around, or there
    /// are too many new ones; only a scan can find the new processes.
    package mutating func advance(to latest: Int32, at now: MonotonicTime) -> Bool {
        defer { newest = latest }
        guard let newest else { return true }
        guard latest >= newest, latest - newest <= Self.mostNewIDs else { return false }
        for pid in newest..<latest { notice(pid + 1, at: now) }
        return true
    }

    private mutating func notice(_ pid: Int32, at now: MonotonicTime) {
        young[pid] = Young(noticed: now, due: now)
        kernelThreads.remove(pid)
    }

    /// The young processes that are due for a look.
    package func due(at now: MonotonicTime) -> [Int32] {
        young.compactMap { $0.value.due <= now ? $0.key : nil }
    }

    /// How long to wait until one of the young processes is due.
    package func pause(at now: MonotonicTime, from shortest: TimeSpan, to longest: TimeSpan)
        -> TimeSpan
    {
        let first = young.values.map(\.due).min()
        return min(longest, max(shortest, first.map { $0 - now } ?? longest))
    }

    /// True if the process is not known yet.
    package func isUnknown(_ pid: Int32) -> Bool { images[pid] == nil }

    /// The processes that a scan should look at. Forgets processes that have gone.
    package mutating func toScan(of all: [Int32]) -> [Int32] {
        let living = Set(all)
        images = images.filter { living.contains($0.key) || young[$0.key] != nil }
        kernelThreads.formIntersection(living)
        return all.filter { young[$0] == nil && !kernelThreads.contains($0) }
    }

    /// The id belongs to no process: it is free, or a thread has it.
    package mutating func sawNothing(_ pid: Int32, isThread: Bool, at now: MonotonicTime) {
        images[pid] = nil
        if let entry = young[pid], isThread || now - entry.noticed > Self.appearance {
            young[pid] = nil
        }
    }

    /// True if the process has executed a program since the last look.
    package mutating func saw(_ image: ProcessImage, of pid: Int32, at now: MonotonicTime) -> Bool {
        if image.isKernelThread { kernelThreads.insert(pid) }
        let isNew = images.updateValue(image.identity, forKey: pid) != image.identity
        if let entry = young[pid] {
            let age = now - entry.noticed
            let interval = TimeSpan(nanoseconds: age.nanoseconds / Self.ageOfInterval)
            let isOld = interval >= Self.longestInterval || image.isKernelThread
            young[pid] = isOld ? nil : Young(noticed: entry.noticed, due: now + interval)
        }
        return isNew && image.isProgram
    }
}
