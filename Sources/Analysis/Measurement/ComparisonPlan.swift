/// How many pairs a decision takes: a few looks at fixed numbers, and a second block before
/// anything is called slower.
///
/// To look whenever one likes finds a difference sooner or later. So there are looks after 10, 20
/// and 40 pairs, and they share the chance of an error (Bonferroni). A first block that says
/// "slower" has been picked among looks, and among many comparisons: a fresh one of the same size
/// must agree, by itself.
///
/// A value: each step gives the next plan.
package struct ComparisonPlan: Hashable, Sendable {
    /// Ascending numbers of pairs.
    package let looks: [Int]
    private let asked: ComparisonRule
    private var stage: Stage

    private enum Stage: Hashable {
        case looking(Int)
        case confirming(pairs: Int)
        case decided(Decision)
    }

    /// - Parameters:
    ///   - looks: numbers of pairs; those below 1, and doubles, are left out.
    ///   - rule: its confidence is the whole plan's, which looks share.
    package init(looks: [Int] = [10, 20, 40], rule: ComparisonRule = ComparisonRule()) {
        self.looks = Set(looks).filter { $0 > 0 }.sorted()
        asked = rule
        stage = self.looks.isEmpty ? .decided(.inconclusive(.notSeen)) : .looking(0)
    }

    /// What to do next.
    package var step: Step {
        switch stage {
        case .looking(let look):
            let earlier = look == 0 ? 0 : looks[look - 1]
            return .measure(pairs: looks[look] - earlier, fresh: look == 0)
        case .confirming(let pairs): return .measure(pairs: pairs, fresh: true)
        case .decided(let decision): return .decide(decision)
        }
    }

    /// By what the next comparison decides. A look has its part of the chance of an error, the
    /// second block, of which there is one, all of it.
    package var rule: ComparisonRule {
        guard case .looking = stage else { return asked }
        var rule = asked
        rule.confidence = 1 - (1 - asked.confidence) / Double(looks.count)
        return rule
    }

    /// The plan after a comparison, by ``rule``, of all pairs since the last fresh beginning.
    ///
    /// - Parameter verdict: nil: no pair counts.
    package func next(after verdict: Comparison.Verdict?) -> ComparisonPlan {
        var plan = self
        switch stage {
        case .decided: break
        case .looking(let look): plan.stage = after(verdict, look: look)
        case .confirming:
            plan.stage = .decided(verdict == .slower ? .slower : .inconclusive(.notConfirmed))
        }
        return plan
    }

    private func after(_ verdict: Comparison.Verdict?, look: Int) -> Stage {
        switch verdict {
        case .slower: .confirming(pairs: looks[look])
        case .faster: .decided(.faster)
        case .same: .decided(.same)
        case .inconclusive, nil:
            look + 1 < looks.count ? .looking(look + 1) : .decided(.inconclusive(.notSeen))
        }
    }

    package enum Step: Hashable, Sendable {
        /// So many more pairs. Fresh: those before take no part in the next comparison.
        case measure(pairs: Int, fresh: Bool)
        case decide(Decision)
    }

    package enum Decision: Hashable, Sendable {
        /// Two blocks say so.
        case slower
        case faster
        case same
        case inconclusive(Doubt)
    }

    /// Why nothing could be decided.
    package enum Doubt: String, Sendable, CaseIterable {
        /// The spread is too large for so many pairs.
        case notSeen = "not_seen"
        /// One block said "slower", a second one did not.
        case notConfirmed = "not_confirmed"
    }
}
