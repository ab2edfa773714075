import PerfData
import ProfileModel

/// CPU time from groups of events of which only the leader is sampled (`{…}:S`): the difference
/// between the clocks' counts and their counts at the sample before.
struct GroupCounts {
    /// The ids of the clocks' counters.
    private let clocks: Set<UInt64>
    private let isByThread: Bool
    private var last: [Counter: UInt64] = [:]

    private struct Counter: Hashable {
        var id: UInt64
        /// -1: it counts for all threads.
        var tid: Int32
    }

    /// nil: the file has no such groups.
    init?(_ clocks: some Collection<PerfEvent>) {
        guard clocks.contains(where: \.countsGroups) else { return nil }
        self.clocks = Set(clocks.flatMap(\.ids))
        isByThread = clocks.contains(where: \.isInherited)
    }

    /// - Returns: the CPU time since the last sample with these counters. nil: the sample is of
    ///   another event.
    mutating func cpu(since sample: PerfSample) -> UInt64? {
        var grown: UInt64?
        for count in sample.counts where clocks.contains(count.id) {
            let counter = Counter(id: count.id, tid: isByThread ? sample.tid : -1)
            let (more, isLess) = count.value.subtractingReportingOverflow(last[counter] ?? 0)
            last[counter] = count.value
            grown = (grown ?? 0).addingReportingOverflow(isLess ? 0 : more).partialValue
        }
        return grown
    }
}
