package import ProfileModel

/// Decides when a program passes: the procedure of ``ComparisonPlan``, as a function of the
/// launches made so far. The same launches give the same answer.
package struct GateRule: Hashable, Sendable {
    /// How much slower is allowed, and how certain the whole answer must be.
    package var allowed: ComparisonRule
    /// The numbers of pairs after which a look takes place.
    package var looks: [Int]

    /// - Parameter mostPairs: of the last look; its confirmation takes as many again.
    package init(allowed: ComparisonRule = ComparisonRule(), mostPairs: Int = 40) {
        self.allowed = allowed
        looks = ComparisonPlan.looks(upTo: mostPairs)
    }

    package enum Answer: Hashable, Sendable {
        /// This number of pairs, in all, must count before a decision.
        case measure(pairs: Int)
        case decided(GateDecision)
    }

    /// The number of launches to compare with a stored measurement: as many as it has that count,
    /// because that is as informative.
    ///
    /// - Parameter most: the user's limit.
    package static func launches(against stored: Measurement, most: Int) -> Int {
        let counted = stored.launches.count { $0.arm == 0 && $0.discarded == nil }
        return min(most, max(fewestAgainstStored, counted))
    }

    /// Even if the stored measurement has fewer.
    private static let fewestAgainstStored = 10

    /// - Parameter launches: all launches that were made, of two arms that took turns. The first
    ///   arm is compared with the second.
    package func answer(to launches: [MeasuredLaunch]) -> Answer {
        answer(to: LaunchPairs.walls(of: launches))
    }

    /// - Parameter walls: of both arms, pair by pair in their order, in nanoseconds.
    package func answer(to walls: [(Double, Double)]) -> Answer {
        var plan = ComparisonPlan(looks: looks, rule: allowed)
        var (seen, second): (Comparison?, Comparison?)
        while true {
            switch plan.step {
            case .decide(let decision):
                return .decided(GateDecision(decision: decision, seen: seen, second: second))
            case .compare(let range):
                guard range.upperBound <= walls.count else {
                    return .measure(pairs: range.upperBound)
                }
                let found = Comparison(Array(walls[range]), rule: plan.rule)
                if plan.isConfirming { second = found } else { (seen, second) = (found, nil) }
                plan = plan.next(after: found?.verdict)
            }
        }
    }
}

/// The decision from the launches.
package struct GateDecision: Hashable, Sendable {
    package var decision: ComparisonPlan.Decision
    /// The last look's comparison, of all pairs so far; nil: no pair counts.
    package var seen: Comparison?
    /// The second block's comparison, which confirms the first; nil: it was not needed.
    package var second: Comparison?

    package var outcome: GateOutcome {
        switch decision {
        case .slower: .regression
        case .faster, .same: .passed
        case .inconclusive: .inconclusive
        }
    }
}

/// The answer in a word. The raw values are shown in JSON.
package enum GateOutcome: String, Sendable, CaseIterable {
    /// Not slower than is allowed, surely.
    case passed
    /// Slower than is allowed, surely, and twice.
    case regression
    case inconclusive
}
