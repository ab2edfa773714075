import ProfileModel

/// Priority inversions among the other threads; the main thread's are found with its waits. Only
/// what the low priority cost is at stake, because nothing says that the launch waited for all of
/// them.
struct OtherInversions: FindingRule {
    func findings(in search: inout FindingSearch) -> [Finding] {
        var found: [Finding] = []
        // Where all have the same priority, nobody's is the lower one.
        guard search.profile.hasPriorities else { return [] }
        let waiting = Set(search.profile.waits.map(\.thread)).subtracting(
            search.profile.mainThread.threads)
        for thread in waiting.sorted() {
            for group in WaitGroups(of: thread, in: search).groups {
                // Who is only presumed to have been waited for is no proof.
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
