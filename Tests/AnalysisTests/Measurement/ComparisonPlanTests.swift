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
                .compare(0..<10), .compare(0..<20), .compare(0..<40),
                .decide(.inconclusive(.notSeen)),
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
        #expect(steps([.slower, .same, verdict]).last == .decide(decision))
    }

    /// A fresh block of the size of all before must agree.
    @Test func slowerIsConfirmed() {
        #expect(steps([.slower]).last == .compare(10..<20))
        #expect(steps([.inconclusive, .slower]).last == .compare(20..<40))
        #expect(steps([.inconclusive, nil, .slower]).last == .compare(40..<80))
        #expect(steps([.slower, .slower]).last == .decide(.slower))
    }

    /// The pairs that were to confirm it belong to the next look.
    @Test func notConfirmed() {
        for other in [Comparison.Verdict.same, .faster, .inconclusive, nil] {
            #expect(steps([.slower, other]).last == .compare(0..<20))
            #expect(steps([.slower, other, .slower]).last == .compare(20..<40))
            #expect(steps([.slower, other, .slower, other, .slower]).last == .compare(40..<80))
            #expect(
                steps([.slower, other, .slower, other, .slower, other]).last
                    == .decide(.inconclusive(.notConfirmed)))
            #expect(
                steps([.slower, other, nil, .inconclusive]).last == .decide(.inconclusive(.notSeen))
            )
        }
    }

    @Test func aDecisionStays() {
        #expect(steps([.same, .slower, .slower]).last == .decide(.same))
    }

    /// Three looks share 1 %; a second block has it by itself.
    @Test func chanceIsShared() {
        let plan = ComparisonPlan()
        #expect(abs(plan.rule.confidence - (1 - 0.01 / 3)) < 1e-12)
        #expect(!plan.isConfirming)
        #expect(plan.next(after: .slower).rule == ComparisonRule())
        #expect(plan.next(after: .slower).isConfirming)
        let single = ComparisonPlan(looks: [15], rule: ComparisonRule(allowedShare: 0.05))
        #expect(abs(single.rule.confidence - 0.99) < 1e-12)
        #expect(single.rule.allowedShare == 0.05)
    }

    @Test func oddLooks() {
        #expect(ComparisonPlan(looks: [20, 5, 5, 0, -1]).looks == [5, 20])
        #expect(ComparisonPlan(looks: []).step == .decide(.inconclusive(.notSeen)))
        #expect(ComparisonPlan(looks: []).rule == ComparisonRule())
    }

    @Test(arguments: [
        (40, [10, 20, 40]), (7, [7]), (19, [19]), (20, [10, 20]), (39, [19, 39]),
        (100, [12, 25, 50, 100]), (1_000, [15, 31, 62, 125, 250, 500, 1_000]),
        (3, [7]), (0, [7]), (-1, [7]),
    ]) func looksOfOtherNumbers(most: Int, looks: [Int]) {
        #expect(ComparisonPlan.looks(upTo: most) == looks)
    }

    /// Each look can show something, and its confirmation is within the next one.
    @Test func everyLookCounts() {
        for most in Array(7...400) + [1_000, 9_999, 10_000] {
            let plan = ComparisonPlan(looks: ComparisonPlan.looks(upTo: most))
            #expect(plan.looks.last == most)
            let bound = SignedRanks.bound(count: plan.looks[0], confidence: plan.rule.confidence)
            #expect(bound.confidence >= plan.rule.confidence, "\(plan.looks)")
            for (look, next) in zip(plan.looks, plan.looks.dropFirst()) {
                #expect(2 * look <= next)
            }
        }
    }

    /// With any verdicts, there is an end, and no more pairs than looks and a second block have.
    @Test(arguments: 1...100 as ClosedRange<UInt64>) func alwaysEnds(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var plan = ComparisonPlan()
        for _ in 0..<7 {
            guard case .compare(let range) = plan.step else { return }
            #expect(range.upperBound <= 80)
            plan = plan.next(after: Comparison.Verdict.allCases.randomElement(using: &random))
        }
        Issue.record("no decision after seven steps")
    }
}
