import MadeRecordings
import ProfileModel
import Testing

@testable import Analysis

@Suite struct GateRuleTests {
    private let rule = GateRule()

    /// So many pairs, the first program's launches so much longer than the second's, in per cent.
    private func pairs(_ count: Int, _ percent: Double, noise: Double = 0.5) -> [(Double, Double)] {
        (0..<count).map { number in
            let wavering = 1 + noise / 100 * Double((number * 7) % 5 - 2)
            return (200e6 * (1 + percent / 100) * wavering, 200e6)
        }
    }

    private func decide(_ walls: [(Double, Double)]) -> GateDecision? {
        guard case .decided(let decision) = rule.answer(to: walls) else { return nil }
        return decision
    }

    @Test func atFirstTenPairs() {
        for count in 0..<10 { #expect(rule.answer(to: pairs(count, 50)) == .measure(pairs: 10)) }
    }

    @Test func anEqualProgramPassesAtOnce() throws {
        for percent in [-20.0, 0, 1] {
            let decision = try #require(decide(pairs(10, percent)))
            #expect(decision.outcome == .passed)
            #expect(decision.seen?.pairs == 10 && decision.second == nil)
        }
    }

    @Test func aSlowerProgramIsConfirmed() throws {
        #expect(rule.answer(to: pairs(10, 20)) == .measure(pairs: 20))
        #expect(rule.answer(to: pairs(19, 20)) == .measure(pairs: 20))
        let decision = try #require(decide(pairs(20, 20)))
        #expect(decision.outcome == .regression)
        #expect(decision.seen?.pairs == 10 && decision.second?.pairs == 10)
        #expect(decision.seen?.confidence ?? 0 >= 1 - 0.01 / 3)
    }

    /// The block that did not agree takes part in the next look.
    @Test func anUnconfirmedRegressionIsMeasuredAgain() throws {
        let first = pairs(10, 20)
        #expect(rule.answer(to: first + pairs(10, 0)) == .measure(pairs: 40))
        let whole = first + pairs(30, 0)
        let decision = try #require(decide(whole))
        #expect(decision.decision == .inconclusive(.notSeen))
        #expect(decision.seen?.pairs == 40 && decision.second == nil)
    }

    @Test func aRegressionThatIsNeverConfirmed() throws {
        let walls = pairs(40, 20) + pairs(40, 3, noise: 5)
        // Every second block begins where the first ends.
        let short = GateRule(mostPairs: 10)
        guard case .decided(let decision) = short.answer(to: pairs(10, 20) + walls.suffix(10))
        else {
            Issue.record("no decision")
            return
        }
        #expect(decision.decision == .inconclusive(.notConfirmed))
        #expect(decision.second?.pairs == 10)
    }

    @Test func noiseIsInconclusive() throws {
        let walls = pairs(40, 3, noise: 5)
        #expect(rule.answer(to: Array(walls.prefix(10))) == .measure(pairs: 20))
        #expect(rule.answer(to: Array(walls.prefix(20))) == .measure(pairs: 40))
        let decision = try #require(decide(walls))
        #expect(decision.decision == .inconclusive(.notSeen))
        #expect(decision.seen?.detectable ?? 0 > 0.03)
    }

    /// 10 % of 10 ms are less than 2 ms.
    @Test func littleTimeIsNoRegression() throws {
        let walls = pairs(10, 10).map { ($0.0 / 20, $0.1 / 20) }
        #expect(decide(walls)?.outcome == .passed)
        let strict = GateRule(allowed: ComparisonRule(allowedDifference: .zero))
        #expect(strict.answer(to: walls) == .measure(pairs: 20))
    }

    @Test func theAllowanceCanBeLarger() {
        let generous = GateRule(allowed: ComparisonRule(allowedShare: 0.25))
        guard case .decided(let decision) = generous.answer(to: pairs(10, 20)) else {
            Issue.record("no decision")
            return
        }
        #expect(decision.outcome == .passed)
    }

    @Test func fewLaunches() {
        let few = GateRule(mostPairs: 7)
        #expect(few.answer(to: [MeasuredLaunch]()) == .measure(pairs: 7))
        #expect(few.answer(to: pairs(7, 50)) == .measure(pairs: 14))
        guard case .decided(let decision) = few.answer(to: pairs(14, 50)) else {
            Issue.record("no decision")
            return
        }
        #expect(decision.outcome == .regression)
    }

    /// Launches that do not count leave pairs that do.
    @Test func ofLaunches() {
        var builder = MeasurementBuilder(arms: 2)
        builder.launch(500, arm: 0, discarded: .first)
        builder.launch(500, arm: 1, discarded: .first)
        for turn in PairedOrder.turns(pairs: 11, seed: 3) {
            builder.launch(
                turn.arm == 0 ? 201 : 200, arm: turn.arm,
                discarded: turn.pair == 4 && turn.arm == 0 ? .failed : nil)
        }
        guard case .decided(let decision) = rule.answer(to: builder.measurement.launches) else {
            Issue.record("no decision")
            return
        }
        #expect(decision.outcome == .passed && decision.seen?.pairs == 10)
    }

    /// Whatever the figures, there is an end.
    @Test(arguments: 1...60 as ClosedRange<UInt64>) func alwaysEnds(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let most = Int.random(in: 1...60, using: &random)
        let rule = GateRule(mostPairs: most)
        var walls: [(Double, Double)] = []
        for _ in 0..<20 {
            guard case .measure(let pairs) = rule.answer(to: walls) else { return }
            #expect(pairs > walls.count && pairs <= 2 * max(most, 7))
            while walls.count < pairs {
                walls.append(
                    (.random(in: 1...1e9, using: &random), .random(in: 1...1e9, using: &random)))
            }
        }
        Issue.record("no decision")
    }
}
