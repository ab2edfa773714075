import ProfileModel

/// The results of one arm's launches so far.
struct ArmTally: Hashable, Sendable {
    /// True once the discarded first launch was made.
    var isWarmedUp = false
    private(set) var counted = 0
    /// Launches that do not count, by reason; without the discarded first one.
    private(set) var vain: [MeasuredLaunch.Discard: Int] = [:]

    /// How many counting launches ended with each status.
    private var statuses: [Int32: Int] = [:]

    mutating func noteCounted(_ status: Int32?) {
        counted += 1
        if let status { statuses[status, default: 0] += 1 }
    }

    mutating func noteVain(_ reason: MeasuredLaunch.Discard) { vain[reason, default: 0] += 1 }

    /// Removes a launch that was counted but does not count after all.
    mutating func takeOut(_ status: Int32) {
        counted -= 1
        statuses[status, default: 0] -= 1
        noteVain(.otherStatus)
    }

    /// The most frequent status; among equals success, then the smaller one. nil: none has ended.
    var usualStatus: Int32? {
        let most = statuses.values.max()
        return statuses.filter { $0.value == most }.keys.min { left, right in
            (left == 0 ? 0 : 1, left) < (right == 0 ? 0 : 1, right)
        }
    }

    private var vainCount: Int { vain.values.reduce(0, +) }

    /// After this many launches that do not count, and none that counts, more are pointless.
    static let patience = 5
    /// The same for launches that take as long as the watchdog allows.
    static let patienceWithHanging = 2

    /// Why more launches are pointless; nil: they are not.
    ///
    /// - Parameter requested: how many should count. As many may fail to count.
    func surrender(requested: Int) -> MeasuredLaunch.Discard? {
        let hung = vain[.hung] ?? 0
        let isHopeless =
            counted == 0 && (vainCount >= Self.patience || hung >= Self.patienceWithHanging)
        guard isHopeless || vainCount >= max(Self.patience, requested) else { return nil }
        return mostFrequent
    }

    /// The most frequent reason; among equals, the gravest.
    private var mostFrequent: MeasuredLaunch.Discard? {
        let gravest: [MeasuredLaunch.Discard] = [.hung, .failed, .notReady, .warm, .otherStatus]
        let most = vain.values.max()
        return gravest.first { vain[$0] == most } ?? vain.keys.first
    }
}
