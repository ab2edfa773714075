import ProfileModel

/// The main thread waits: for a file, the network, time, a lock, another thread, a child or a
/// page from the disk.
struct MainThreadWaits: FindingRule {
    func findings(in search: inout FindingSearch) -> [Finding] {
        var found: [Finding] = []
        let main = search.profile.mainThread
        let groups = main.threads.sorted().flatMap {
            WaitGroups(of: $0, within: main.windows(of: $0), in: search).groups
        }
        for group in groups {
            // The children's work during the wait may say more.
            let windows = search.unclaimed(group.windows)
            guard windows.length >= search.least, let range = windows.span else { continue }
            search.claim(windows)
            let counterpart = Counterpart(group, in: search)
            var evidence = group.evidence(counterpart)
            evidence.child = search.child(besides: group, in: windows)
            let inversion = counterpart.flatMap { $0.isInversion(of: windows.length) ? $0 : nil }
            found.append(
                Finding(
                    subject: inversion.map { .priorityInversion(evidence, $0) } ?? .wait(evidence),
                    saving: windows.length, thread: group.longest.thread, range: range,
                    place: group.place, stack: group.stack))
        }
        return found
    }
}

extension FindingSearch {
    /// The only child of the waiting thread's process that lived for half of the time in which it slept or
    /// polled.
    fileprivate func child(besides group: WaitGroups.Group, in windows: TimeWindows) -> Int? {
        guard [.sleep, .pollWait, .pipeWait].contains(group.kind) else { return nil }
        let children = profile.processes.indices.filter { index in
            let process = profile.processes[index]
            let life = TimeWindows([window(from: process.start, to: process.end ?? end)])
            return process.parent == 0
                && life.common(with: windows).length.nanoseconds >= windows.length.nanoseconds / 2
        }
        return children.count == 1 ? children[0] : nil
    }
}
