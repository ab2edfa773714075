import ProfileModel

/// Priority inversions among the other threads; the main thread's are found with its waits. Only
/// the time lost to the low priority counts as saving, because the launch may not have waited for
/// all of these threads.
struct OtherInversions: FindingRule {
    func findings(in search: inout FindingSearch) -> [Finding] {
        var found: [Finding] = []
        // If all threads have the same priority, none is lower.
        guard search.profile.hasPriorities else { return [] }
        let waiting = Set(search.profile.waits.map(\.thread)).subtracting(
            search.profile.mainThread.threads)
        for thread in waiting.sorted() {
            for group in WaitGroups(of: thread, in: search).groups {
                // A thread that is only presumed to have been waited for is no proof.
                guard group.windows.length >= search.least,
                    let counterpart = Counterpart(knownOf: group, in: search),
                    counterpart.isInversion(of: group.windows.length),
                    counterpart.lacked >= search.least,
                    let range = group.windows.span
                else { continue }
                found.append(
                    Finding(
                        subject: .priorityInversion(group.evidence(counterpart), counterpart),
                        saving: counterpart.lacked, thread: thread, range: range,
                        place: group.place, stack: group.stack))
            }
        }
        return found
    }
}
