import Testing

@testable import Analysis

@Suite struct ComparisonPlanTests {
    private typealias Step = ComparisonPlan.Step

    /// The steps that follow a row of verdicts.
    private func steps(_ verdicts: [Comparison.Verdict?]) -> [Step] {
        var plan = ComparisonPlan()
        return [plan.step]
            + verdicts.map {
                plan = plan.next(after: $0)
                return plan.step
            }
    }

    @Test func looksAtFixedNumbers() {
        #expect(
            steps([.inconclusive, .inconclusive, .inconclusive]) == [
                .measure(pairs: 10, fresh: true), .measure(pairs: 10, fresh: false),
                .measure(pairs: 20, fresh: false), .decide(.inconclusive(.notSeen)),
            ])
    }

    @Test(arguments: [
        (Comparison.Verdict.same, ComparisonPlan.Decision.same), (.faster, .faster),
    ]) func goodNewsNeedsNoSecondBlock(
        verdict: Comparison.Verdict, decision: ComparisonPlan.Decision
    ) {
        #expect(steps([verdict]).last == .decide(decision))
        #expect(steps([.inconclusive, verdict]).last == .decide(decision))
        #expect(steps([nil, .inconclusive, verdict]).last == .decide(decision))
    }

    /// A fresh block of the size of all before must agree.
    @Test func slowerIsConfirmed() {
        #expect(steps([.slower]).last == .measure(pairs: 10, fresh: true))
        #expect(steps([.inconclusive, .slower]).last == .measure(pairs: 20, fresh: true))
        #expect(steps([.inconclusive, nil, .slower]).last == .measure(pairs: 40, fresh: true))
        #expect(steps([.slower, .slower]).last == .decide(.slower))
        for other in [Comparison.Verdict.same, .faster, .inconclusive, nil] {
            #expect(steps([.slower, other]).last == .decide(.inconclusive(.notConfirmed)))
        }
    }

    @Test func whatIsDecidedStays() {
        #expect(steps([.same, .slower, .slower]).last == .decide(.same))
    }

    /// Three looks share 1 %; the second block has it by itself.
    @Test func chanceIsShared() {
        let plan = ComparisonPlan()
        #expect(abs(plan.rule.confidence - (1 - 0.01 / 3)) < 1e-12)
        #expect(plan.next(after: .slower).rule == ComparisonRule())
        let single = ComparisonPlan(looks: [15], rule: ComparisonRule(allowedShare: 0.05))
        #expect(abs(single.rule.confidence - 0.99) < 1e-12)
        #expect(single.rule.allowedShare == 0.05)
    }

    @Test func oddLooks() {
        #expect(ComparisonPlan(looks: [20, 5, 5, 0, -1]).looks == [5, 20])
        #expect(ComparisonPlan(looks: []).step == .decide(.inconclusive(.notSeen)))
        #expect(ComparisonPlan(looks: []).rule == ComparisonRule())
    }

    /// Whatever comes, there is an end, and no more pairs than looks and a second block have.
    @Test(arguments: 1...100 as ClosedRange<UInt64>) func alwaysEnds(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var plan = ComparisonPlan()
        var pairs = 0
        for _ in 0..<5 {
            guard case .measure(let more, _) = plan.step else { return }
            pairs += more
            #expect(pairs <= 80)
            plan = plan.next(after: Comparison.Verdict.allCases.randomElement(using: &random))
        }
        Issue.record("no decision after five steps")
    }
}
