package import ProfileModel

/// Which launch is made next, which ones count, and when there are enough. Pure: it makes no launch
/// itself.
///
/// 1. The first launch of each arm is thrown away. One that went wrong is made again.
/// 2. Then the arms take turns, in pairs. A pair of which one launch does not count is made anew: who
///    takes a launch's place later ran at another time, and is no partner for the other.
/// 3. When enough pairs count, launches that ended with another status than most are taken out, and
///    pairs are added in their place. From then on it is known which status is right.
/// 4. Who looks at what was measured may ask for more (``extend(to:)``).
package struct LaunchPlan: Sendable {
    package enum Step: Hashable, Sendable {
        case launch(LaunchRequest)
        case end(MeasuringEnd)
    }

    /// A launch that was found not to count after it was noted.
    package struct LateDiscard: Hashable, Sendable {
        package var index: Int
        package var reason: MeasuredLaunch.Discard
    }

    /// How many launches of each arm are to count.
    package private(set) var requested: Int
    /// All that were made, in their order.
    package private(set) var launches: [MeasuredLaunch] = []
    /// nil: there are launches to be made.
    package private(set) var end: MeasuringEnd?

    private var tallies: [ArmTally]
    private var order: any ArmOrder
    private var pairs: PairTally
    /// What is to be launched of the pair.
    private var waiting: [Int]
    private var padding: EnvironmentPadding
    /// The exit status of each arm that is right; nil: not known yet.
    private var usualStatus: [Int32?]
    private var isSettled = false
    private var late: [LateDiscard] = []

    /// - Parameters:
    ///   - arms: how many programs there are, 1 or 2.
    ///   - requested: how many launches of each are to count, at least 1.
    ///   - order: how so many arms take turns.
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

    /// The same answer until a launch is noted.
    package mutating func next() -> Step {
        if end == nil, waiting.isEmpty { goOn() }
        if let end { return .end(end) }
        return .launch(
            LaunchRequest(
                arm: waiting.first ?? 0, index: launches.count, pair: pairs.current,
                padding: padding))
    }

    /// Takes the launch that ``next()`` asked for. Its reason not to count may be added.
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
            // Its first launch has no partner yet: it is made again at once.
            if pairs.hasBegun { waiting = [] }
            surrenderIfHopeless(arm)
        }
    }

    /// What it printed may say what is wrong with it. What nothing is wrong with, may be a hundred
    /// thousand.
    private func isWorthItsOutput(_ launch: MeasuredLaunch) -> Bool {
        switch launch.discarded {
        case nil: isUnusual(launch)
        case .first, .warm, .interrupted, .recorded: false
        case .failed, .otherStatus, .hung, .notReady: true
        }
    }

    /// As far as can be said until now; of the first few a failure may turn out to be unusual.
    private func isUnusual(_ launch: MeasuredLaunch) -> Bool {
        guard let status = launch.endStatus else { return false }
        let tally = tallies[launch.arm]
        return status != tally.usualStatus || status != 0 && tally.counted < 3
    }

    /// Ends it before there are enough launches.
    package mutating func stop(_ reason: MeasuringEnd) {
        end = end ?? reason
    }

    /// There were enough launches, and now there are to be more: it goes on where it ended.
    ///
    /// - Parameter requested: how many are to count in all. Not more than before: it is over.
    package mutating func extend(to requested: Int) {
        guard end == .complete, requested > self.requested else { return }
        self.requested = requested
        end = nil
    }

    /// What was found since the last call.
    package mutating func takeLateDiscards() -> [LateDiscard] {
        defer { late = [] }
        return late
    }

    // MARK: - Pairs

    /// There is nothing more to be launched of a pair.
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

    // MARK: - What counts

    private func reason(against launch: MeasuredLaunch) -> MeasuredLaunch.Discard? {
        if let known = launch.discarded, known != .warm, known != .first { return known }
        if case .signalled = launch.outcome, launch.readyBy == nil { return .failed }
        // Which files a launch uses is only known after the first, so it is never cold.
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

    /// Finds the status that most launches of each arm ended with, and takes out the others. Once:
    /// otherwise what counts could change with each launch.
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
    /// The status that it ended with. nil: it did not, or had been ready, and what became of it after
    /// that is no part of the launch.
    fileprivate var endStatus: Int32? {
        guard readyBy == nil, case .exited(let status) = outcome else { return nil }
        return status
    }
}
