package import ProfileModel

/// Decides which launch is next, which ones count, and when there are enough. Pure: it makes no
/// launch itself.
///
/// 1. The first launch of each arm is discarded. If it failed, it is made again.
/// 2. Then the arms take turns, in pairs. If one launch of a pair does not count, the whole pair is
///    made again: a later replacement would have run at another time, and be no partner for the
///    other.
/// 3. When enough pairs count, launches that ended with another status than most are removed, and
///    further pairs replace them. From then on the right status is known.
/// 4. The caller may ask for more launches after seeing the results (``extend(to:)``).
package struct LaunchPlan: Sendable {
    package enum Step: Hashable, Sendable {
        case launch(LaunchRequest)
        case end(MeasuringEnd)
    }

    /// A launch that was counted, but later turned out not to count.
    package struct LateDiscard: Hashable, Sendable {
        package var index: Int
        package var reason: MeasuredLaunch.Discard
    }

    /// How many launches of each arm should count.
    package private(set) var requested: Int
    /// All launches, in their order.
    package private(set) var launches: [MeasuredLaunch] = []
    /// nil: there are more launches to make.
    package private(set) var end: MeasuringEnd?

    private var tallies: [ArmTally]
    private var order: any ArmOrder
    private var pairs: PairTally
    /// The arms of the pair that must still be launched.
    private var waiting: [Int]
    private var padding: EnvironmentPadding
    /// The right exit status of each arm; nil: not known yet.
    private var usualStatus: [Int32?]
    private var isSettled = false
    private var late: [LateDiscard] = []

    /// - Parameters:
    ///   - arms: the number of programs, 1 or 2.
    ///   - requested: how many launches of each should count, at least 1.
    ///   - order: how that many arms take turns.
    package init(arms: Int, requested: Int, order: any ArmOrder) {
        self.requested = requested
        self.order = order
        tallies = Array(repeating: ArmTally(), count: arms)
        pairs = PairTally(arms: arms)
        usualStatus = Array(repeating: nil, count: arms)
        waiting = Array(0..<arms)
        padding = EnvironmentPadding(size: 0)
    }

    /// How many pairs of launches count.
    package var counted: Int { pairs.counted }

    /// Returns the same step until a launch is noted.
    package mutating func next() -> Step {
        if end == nil, waiting.isEmpty { goOn() }
        if let end { return .end(end) }
        return .launch(
            LaunchRequest(
                arm: waiting.first ?? 0, index: launches.count, pair: pairs.current,
                padding: padding))
    }

    /// Takes the launch that ``next()`` requested. The plan may add a reason why it does not count.
    package mutating func note(_ launch: MeasuredLaunch) {
        guard end == nil, let arm = waiting.first else { return }
        var launch = launch
        launch.arm = arm
        launch.discarded = reason(against: launch)
        tally(launch)
        if !isWorthItsOutput(launch) { launch.output = "" }
        launches.append(launch)
    }

    private mutating func tally(_ launch: MeasuredLaunch) {
        let arm = launch.arm
        switch launch.discarded {
        case nil:
            tallies[arm].noteCounted(launch.endStatus)
            pairs.noteGood(launches.count)
            waiting.removeFirst()
        case .first:
            tallies[arm].isWarmedUp = true
            waiting.removeFirst()
        case .interrupted:
            end = .interrupted
        case let reason?:
            tallies[arm].noteVain(reason)
            // The pair's first launch has no partner yet: it is made again at once.
            if pairs.hasBegun { waiting = [] }
            surrenderIfHopeless(arm)
        }
    }

    /// A failed launch's output may reveal the cause. Successful launches may number a hundred
    /// thousand, so their output is not kept.
    private func isWorthItsOutput(_ launch: MeasuredLaunch) -> Bool {
        switch launch.discarded {
        case nil: isUnusual(launch)
        case .first, .warm, .interrupted, .recorded: false
        case .failed, .otherStatus, .hung, .notReady: true
        }
    }

    /// As far as known at this point: among the first few launches, a failure may turn out to be
    /// unusual.
    private func isUnusual(_ launch: MeasuredLaunch) -> Bool {
        guard let status = launch.endStatus else { return false }
        let tally = tallies[launch.arm]
        return status != tally.usualStatus || status != 0 && tally.counted < 3
    }

    /// Ends the plan before there are enough launches.
    package mutating func stop(_ reason: MeasuringEnd) {
        end = end ?? reason
    }

    /// Continues after the end of the plan, because the caller wants more launches.
    ///
    /// - Parameter requested: how many should count in all. If this is no more than before, nothing
    ///   changes.
    package mutating func extend(to requested: Int) {
        guard end == .complete, requested > self.requested else { return }
        self.requested = requested
        end = nil
    }

    /// The late discards since the last call.
    package mutating func takeLateDiscards() -> [LateDiscard] {
        defer { late = [] }
        return late
    }

    // MARK: - Pairs

    /// Called when the current pair has no launch left: begins the next pair, or ends the plan.
    private mutating func goOn() {
        if counted >= requested { settle() }
        guard end == nil else { return }
        if counted >= requested {
            end = .complete
        } else {
            let pair = order.nextPair()
            pairs.begin()
            waiting = pair.arms
            padding = pair.padding
        }
    }

    // MARK: - Launches that count

    private func reason(against launch: MeasuredLaunch) -> MeasuredLaunch.Discard? {
        if let known = launch.discarded, known != .warm, known != .first { return known }
        if case .signalled = launch.outcome, launch.readyBy == nil { return .failed }
        // The files that a launch uses are known only after the first one, so the first is never
        // cold.
        guard tallies[launch.arm].isWarmedUp else { return .first }
        if launch.discarded == .warm { return .warm }
        if let status = launch.endStatus, let usual = usualStatus[launch.arm], status != usual {
            return .otherStatus
        }
        return nil
    }

    private mutating func surrenderIfHopeless(_ arm: Int) {
        guard let reason = tallies[arm].surrender(requested: requested) else { return }
        end = .gaveUp(arm: arm, reason: reason, counted: tallies[arm].counted)
    }

    /// Finds the status that most launches of each arm ended with, and removes the launches with
    /// another status. Done only once: otherwise each launch could change which launches count.
    private mutating func settle() {
        guard !isSettled else { return }
        isSettled = true
        for arm in tallies.indices {
            usualStatus[arm] = tallies[arm].usualStatus
            for index in launches.indices where launches[index].arm == arm {
                takeOut(index)
            }
            surrenderIfHopeless(arm)
        }
    }

    private mutating func takeOut(_ index: Int) {
        let launch = launches[index]
        guard launch.discarded == nil, reason(against: launch) == .otherStatus,
            let status = launch.endStatus
        else { return }
        launches[index].discarded = .otherStatus
        pairs.takeOut(index)
        tallies[launch.arm].takeOut(status)
        late.append(LateDiscard(index: index, reason: .otherStatus))
    }
}

extension MeasuredLaunch {
    /// The program's exit status. nil: it did not end, or it had been ready before: its later end
    /// does not belong to the launch.
    fileprivate var endStatus: Int32? {
        guard readyBy == nil, case .exited(let status) = outcome else { return nil }
        return status
    }
}

/// The launches of one pair: each arm once. With one arm, each launch is a pair of its own.
package struct LaunchPair: Hashable, Sendable {
    /// In the order of the launches; not empty.
    package var arms: [Int]
    package var padding: EnvironmentPadding

    package init(arms: [Int], padding: EnvironmentPadding) {
        self.arms = arms
        self.padding = padding
    }
}

/// How the arms of a measurement take turns.
package protocol ArmOrder: Sendable {
    mutating func nextPair() -> LaunchPair
}

/// Which launches form pairs that count.
struct PairTally: Hashable, Sendable {
    /// The number of launches in a pair.
    let arms: Int
    /// The current pair, from 0; nil: the discarded first launches.
    private(set) var current: Int?
    /// How many pairs count.
    private(set) var counted = 0
    /// How many launches of each pair count.
    private var good: [Int] = []
    /// The pair of each launch that counts, by the launch's index.
    private var pairOf: [Int: Int] = [:]

    init(arms: Int) { self.arms = arms }

    mutating func begin() {
        current = good.count
        good.append(0)
    }

    /// True if one of the current pair's launches counts.
    var hasBegun: Bool { current.map { good[$0] > 0 } ?? false }

    mutating func noteGood(_ launch: Int) {
        guard let current else { return }
        pairOf[launch] = current
        good[current] += 1
        if good[current] == arms { counted += 1 }
    }

    /// A launch that counted does not count after all.
    mutating func takeOut(_ launch: Int) {
        guard let pair = pairOf.removeValue(forKey: launch) else { return }
        if good[pair] == arms { counted -= 1 }
        good[pair] -= 1
    }
}

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
