import Foundation
import Glibc
import Testing

@testable import Analysis

/// Whole gates, on made-up launches: how often they are wrong, and how often they see a real
/// change.
/// `docs/measuring.md` has the table of many more (GATE_ROUNDS).
@Suite struct GateSimulationTests {
    private struct Tally {
        var outcomes: [GateOutcome: Int] = [:]
        var pairs = 0
        var rounds = 0

        subscript(outcome: GateOutcome) -> Int { outcomes[outcome] ?? 0 }
    }

    private func gates(
        _ rounds: Int, spread: Double, change: Double = 1, most: Int = 40, seed: UInt64 = 1
    ) -> Tally {
        let rule = GateRule(mostPairs: most)
        var tally = Tally(rounds: rounds)
        for round in 0..<rounds {
            var course = MadeCourse(
                spread: spread, change: change, stepsWithin: 2 * most,
                seed: seed &* 1_000_003 &+ UInt64(round))
            tally.outcomes[course.decide(rule).outcome, default: 0] += 1
            tally.pairs += course.walls.count
        }
        return tally
    }

    /// A program against itself.
    @Test(arguments: [0.03, 0.06]) func noFalseAlarms(spread: Double) {
        let tally = gates(300, spread: spread)
        #expect(tally[.regression] == 0)
        // An equally fast program passes, where the noise permits it.
        #expect(tally[.passed] >= (spread < 0.05 ? 150 : 10), "\(tally)")
    }

    @Test func tenPercentAreSeen() {
        let tally = gates(200, spread: 0.03, change: 1.1)
        #expect(tally[.regression] >= 190, "\(tally)")
        #expect(tally[.passed] == 0)
    }

    /// A change of exactly the allowed size gives neither a regression nor a pass, as a rule.
    @Test func anAllowedChangeIsNoRegression() {
        let tally = gates(200, spread: 0.03, change: 1.03)
        #expect(tally[.regression] == 0 && tally[.passed] <= 6, "\(tally)")
    }

    /// The table of the documentation: `GATE_ROUNDS=100000 swift test --filter simulationTable`.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["GATE_ROUNDS"] != nil))
    func simulationTable() {
        let rounds = Int(ProcessInfo.processInfo.environment["GATE_ROUNDS"] ?? "") ?? 100
        for most in [10, 20, 40, 100] {
            for spread in [0.01, 0.03, 0.06] {
                for change in [1, 1.03, 1.05, 1.08, 1.1, 1.2] {
                    let tally = gates(
                        change == 1 ? rounds : rounds / 20, spread: spread, change: change,
                        most: most)
                    func share(_ outcome: GateOutcome) -> String {
                        String(
                            format: "%7.3f", 100 * Double(tally[outcome]) / Double(tally.rounds))
                    }
                    print(
                        "GATE \(most) CV \(spread) change \(change) rounds \(tally.rounds)",
                        "regression \(tally[.regression]) = \(share(.regression)) %",
                        "passed \(share(.passed)) inconclusive \(share(.inconclusive))",
                        "pairs \(tally.pairs / tally.rounds)")
                }
            }
        }
    }
}
