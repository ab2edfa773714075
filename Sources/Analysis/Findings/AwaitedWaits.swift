import ProfileModel

/// The waits of threads that the main thread waits for: without them, too, the launch would have
/// been shorter. Their waits for each other are steps on the way to these.
struct AwaitedWaits: FindingRule {
    func findings(in search: inout FindingSearch) -> [Finding] {
        var found: [Finding] = []
        let awaited = search.awaitedWindows()
        for thread in awaited.keys.sorted() {
            let windows = awaited[thread].map(search.unclaimed)
            for group in WaitGroups(of: thread, within: windows, isAwaited: true, in: search).groups
            where group.kind != .lockWait && group.kind != .threadWait {
                let windows = search.unclaimed(group.windows)
                guard windows.length >= search.least, let range = windows.span else { continue }
                search.claim(windows)
                found.append(
                    Finding(
                        subject: .wait(group.evidence(nil)), saving: windows.length,
                        thread: thread, range: range, place: group.place, stack: group.stack))
            }
        }
        return found
    }
}

extension FindingSearch {
    /// For each other thread of the first process, the times in which it was blocked while the main
    /// thread waited for it; empty where the recording has no wake-ups.
    fileprivate func awaitedWindows() -> [Int: TimeWindows] {
        guard profile.header.account == .wakeups,
            let main = profile.threads.firstIndex(where: \.isMain)
        else { return [:] }
        var walk = BackwardWalk(profile, from: main, at: end)
        var ranges: [Int: [Range<TimeSpan>]] = [:]
        for segment in walk.segments()
        where segment.depth > 0 && segment.state == .blocked
            && profile.threads[segment.thread].child == nil
            && !isMain(segment.thread, at: segment.start)
        {
            ranges[segment.thread, default: []].append(segment.start..<segment.end)
        }
        // A wait for a lock has a finding of its own, which names the holder.
        let forLocks = TimeWindows(
            profile.mainThread.threads.flatMap { thread in
                waits(of: thread).filter { $0.reason.kind == .lock }
                    .map { window(from: $0.start, to: $0.end) }
            })
        return ranges.mapValues { TimeWindows($0).subtracting(forLocks) }
    }
}
