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
            // What children did meanwhile may say more.
            let windows = search.unclaimed(group.windows)
            guard windows.length >= search.least, let range = windows.span else { continue }
            search.claim(windows)
            let counterpart = Counterpart(group, in: search)
            let evidence = group.evidence(counterpart)
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
