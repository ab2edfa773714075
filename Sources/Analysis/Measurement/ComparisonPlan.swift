/// The number of pairs for a decision: a few looks at fixed numbers of pairs, and a second block
/// before the answer is "slower".
///
/// Unlimited looks would find a difference sooner or later. So there are looks after 10, 20 and 40
/// pairs, and they share the chance of an error (Bonferroni). A first block with the answer
/// "slower" has been picked among looks, and among many comparisons. So a fresh block of the same
/// size must agree, by itself. If it does not, its pairs are not lost: the next look includes them.
///
/// A value type: each step gives the next plan.
package struct ComparisonPlan: Hashable, Sendable {
    /// Ascending numbers of pairs.
    package let looks: [Int]
    private let asked: ComparisonRule
    private var stage: Stage

    private enum Stage: Hashable {
        case looking(Int)
        /// The answer of the look with this number.
        case confirming(Int)
        case decided(Decision)
    }

    /// - Parameters:
    ///   - looks: numbers of pairs; numbers below 1, and repeated ones, are left out.
    ///   - rule: its confidence is that of the whole plan; the looks share it.
    package init(looks: [Int] = [10, 20, 40], rule: ComparisonRule = ComparisonRule()) {
        self.looks = Set(looks).filter { $0 > 0 }.sorted()
        asked = rule
        stage = self.looks.isEmpty ? .decided(.inconclusive(.notSeen)) : .looking(0)
    }

    /// What to do next.
    package var step: Step {
        switch stage {
        case .looking(let look): .compare(0..<looks[look])
        case .confirming(let look): .compare(looks[look]..<2 * looks[look])
        case .decided(let decision): .decide(decision)
        }
    }

    /// Whether the next comparison is of a second block, which must agree.
    package var isConfirming: Bool {
        if case .confirming = stage { true } else { false }
    }

    /// The rule by which the next comparison decides. A look has its share of the chance of an
    /// error; the second block has all of it.
    package var rule: ComparisonRule {
        guard case .looking = stage else { return asked }
        var rule = asked
        rule.confidence = 1 - (1 - asked.confidence) / Double(looks.count)
        return rule
    }

    /// The plan after a comparison, by ``rule``, of the pairs that ``step`` names.
    ///
    /// - Parameter verdict: nil: no pair counts.
    package func next(after verdict: Comparison.Verdict?) -> ComparisonPlan {
        var plan = self
        switch stage {
        case .decided: break
        case .looking(let look): plan.stage = after(verdict, look: look)
        case .confirming(let look):
            plan.stage =
                verdict == .slower ? .decided(.slower) : following(look, else: .notConfirmed)
        }
        return plan
    }

    private func after(_ verdict: Comparison.Verdict?, look: Int) -> Stage {
        switch verdict {
        case .slower: .confirming(look)
        case .faster: .decided(.faster)
        case .same: .decided(.same)
        case .inconclusive, nil: following(look, else: .notSeen)
        }
    }

    private func following(_ look: Int, else doubt: Doubt) -> Stage {
        look + 1 < looks.count ? .looking(look + 1) : .decided(.inconclusive(doubt))
    }

    package enum Step: Hashable, Sendable {
        /// Compares the pairs of these numbers, counted from 0 in the order in which they were
        /// made. Some may have been made already.
        case compare(Range<Int>)
        case decide(Decision)
    }

    package enum Decision: Hashable, Sendable {
        /// Two blocks agree.
        case slower
        case faster
        case same
        case inconclusive(Doubt)
    }

    /// Why nothing could be decided.
    package enum Doubt: String, Sendable, CaseIterable {
        /// The spread is too large for this number of pairs.
        case notSeen = "not_seen"
        /// The last look's answer was "slower", and the second block did not agree.
        case notConfirmed = "not_confirmed"
    }
}

extension ComparisonPlan {
    /// With fewer pairs, no difference can be shown at 99 %.
    package static let fewestPairs = 7

    /// Looks at `most` pairs, half of them, a quarter and so on, down to ten: 10, 20 and 40. Each
    /// look is worth its share of the chance of an error, because it soon shows a very slow
    /// program.
    ///
    /// A look has at least twice as many pairs as the one before, so a second block never has more
    /// than the next look needs.
    package static func looks(upTo most: Int) -> [Int] {
        var looks = [max(most, fewestPairs)]
        while let least = looks.first, least / 2 >= 10 { looks.insert(least / 2, at: 0) }
        return looks
    }
}
