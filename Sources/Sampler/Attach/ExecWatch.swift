import ProfileModel

/// Decides which processes to look at, and when, to hear soon of every program that one of them
/// executes. Pure: it is told what was seen.
///
/// A young process is likely to execute something, and soon: it is looked at in intervals of a
/// fiftieth of its age, at first at every chance. Those that are older than that is worth are
/// left to the scans of all processes.
struct ExecWatch {
    private struct Young {
        var noticed: MonotonicTime
        var due: MonotonicTime
    }

    /// A process that is given its id, but not there yet, will be in an instant; otherwise the id
    /// is that of one that has gone.
    static let appearance = TimeSpan.milliseconds(5)
    /// As seldom as that a scan will do.
    static let longestInterval = TimeSpan.milliseconds(50)
    private static let ageOfInterval: Int64 = 50
    /// More new ids than that are looked for by a scan.
    private static let mostNewIDs = 4096

    private var newest: Int32?
    private var young: [Int32: Young] = [:]
    /// What each process ran when it was last looked at.
    private var images: [Int32: ProcessImage.Identity] = [:]
    private var kernelThreads: Set<Int32> = []

    /// The latest id that was given out. False: ids began again, or there are too many new ones
    /// to tell; only a scan can find them.
    mutating func advance(to latest: Int32, at now: MonotonicTime) -> Bool {
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

    /// Which of the young are worth a look now.
    func due(at now: MonotonicTime) -> [Int32] {
        young.compactMap { $0.value.due <= now ? $0.key : nil }
    }

    /// How long to wait before one of them is due.
    func pause(at now: MonotonicTime, from shortest: TimeSpan, to longest: TimeSpan) -> TimeSpan {
        let first = young.values.map(\.due).min()
        return min(longest, max(shortest, first.map { $0 - now } ?? longest))
    }

    /// Whether nothing is known of it.
    func isUnknown(_ pid: Int32) -> Bool { images[pid] == nil }

    /// Which of all processes a scan should look at. Forgets those that have gone.
    mutating func toScan(of all: [Int32]) -> [Int32] {
        let living = Set(all)
        images = images.filter { living.contains($0.key) || young[$0.key] != nil }
        kernelThreads.formIntersection(living)
        return all.filter { young[$0] == nil && !kernelThreads.contains($0) }
    }

    /// It is not there, or not a process but a thread of one.
    mutating func sawNothing(_ pid: Int32, isThread: Bool, at now: MonotonicTime) {
        images[pid] = nil
        if let entry = young[pid], isThread || now - entry.noticed > Self.appearance {
            young[pid] = nil
        }
    }

    /// Whether it has executed a program since it was last looked at.
    mutating func saw(_ image: ProcessImage, of pid: Int32, at now: MonotonicTime) -> Bool {
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
