import ProfileModel

/// What became of one arm's launches so far.
struct ArmTally: Hashable, Sendable {
    /// Whether the launch that is thrown away has been made.
    var isWarmedUp = false
    private(set) var counted = 0
    /// Those that were made in vain; not the one that is thrown away.
    private(set) var vain: [MeasuredLaunch.Discard: Int] = [:]

    /// How many of those that count ended with each status.
    private var statuses: [Int32: Int] = [:]

    mutating func noteCounted(_ status: Int32?) {
        counted += 1
        if let status { statuses[status, default: 0] += 1 }
    }

    mutating func noteVain(_ reason: MeasuredLaunch.Discard) { vain[reason, default: 0] += 1 }

    /// One that was noted as counted is in vain.
    mutating func takeOut(_ status: Int32) {
        counted -= 1
        statuses[status, default: 0] -= 1
        noteVain(.otherStatus)
    }

    /// The status of most; of equals, success, then the smaller. nil: none has ended.
    var usualStatus: Int32? {
        let most = statuses.values.max()
        return statuses.filter { $0.value == most }.keys.min { left, right in
            (left == 0 ? 0 : 1, left) < (right == 0 ? 0 : 1, right)
        }
    }

    private var vainCount: Int { vain.values.reduce(0, +) }

    /// So many launches in vain, and none that counts, and there is no point in more.
    static let patience = 5
    /// The same for those that take as long as the watchdog allows.
    static let patienceWithHanging = 2

    /// Why there is no point in more launches; nil: there is.
    ///
    /// - Parameter requested: how many are to count. As many may be made in vain.
    func surrender(requested: Int) -> MeasuredLaunch.Discard? {
        let hung = vain[.hung] ?? 0
        let isHopeless =
            counted == 0 && (vainCount >= Self.patience || hung >= Self.patienceWithHanging)
        guard isHopeless || vainCount >= max(Self.patience, requested) else { return nil }
        return mostFrequent
    }

    /// Of equals, the gravest.
    private var mostFrequent: MeasuredLaunch.Discard? {
        let gravest: [MeasuredLaunch.Discard] = [.hung, .failed, .notReady, .warm, .otherStatus]
        let most = vain.values.max()
        return gravest.first { vain[$0] == most } ?? vain.keys.first
    }
}
