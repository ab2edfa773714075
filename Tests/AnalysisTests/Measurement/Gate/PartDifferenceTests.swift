import MadeRecordings
import ProfileModel
import Testing

@testable import Analysis

@Suite struct PartDifferenceTests {
    /// Launches of two programs in turns; phases in milliseconds, of each pair.
    private func launches(
        pairs: Int, _ phases: (_ arm: Int, _ pair: Int) -> [(String, Double)]
    ) -> [MeasuredLaunch] {
        var builder = MeasurementBuilder(arms: 2)
        for turn in PairedOrder.turns(pairs: pairs, seed: 11) {
            let phases = phases(turn.arm, turn.pair).map {
                MeasuredPhase(name: $0.0, wall: span($0.1))
            }
            builder.launch(phases.reduce(0) { $0 + $1.wall.value / 1e6 }, arm: turn.arm) {
                $0.phases = phases
            }
        }
        return builder.measurement.launches
    }

    /// Between -2 and 2.
    private func wavering(_ arm: Int, _ pair: Int) -> Double {
        Double((pair * 7 + arm * 3) % 5 - 2)
    }

    @Test func thePhaseThatGrewMost() throws {
        let found = PartDifference.phases(
            of: launches(pairs: 10) { arm, pair in
                [
                    ("Dynamic linking", arm == 0 ? 12 : 10),
                    ("Static initialisers", (arm == 0 ? 36 : 20) + 0.1 * wavering(arm, pair)),
                    ("Main", 100 + wavering(arm, pair)),
                ]
            })
        #expect(found.map(\.name) == ["Dynamic linking", "Static initialisers", "Main"])
        #expect(found.map(\.isLonger) == [true, true, false])
        #expect(found.allSatisfy { $0.pairs == 10 && $0.low <= $0.difference })
        let culprit = try #require(found.culprit)
        #expect(culprit.name == "Static initialisers")
        #expect(abs(culprit.difference - 16e6) < 0.3e6)
        #expect(culprit.low > 15e6 && culprit.high < 17e6)
        // Three phases share 1 %.
        #expect(culprit.confidence >= 1 - 0.01 / 3)
    }

    /// A large difference that is not sure loses against a small one that is.
    @Test func noiseIsNoCulprit() throws {
        let found = PartDifference.phases(
            of: launches(pairs: 10) { arm, pair in
                [("Main", 100 + 40 * wavering(arm, pair)), ("Linking", arm == 0 ? 11 : 10)]
            })
        #expect(found.culprit?.name == "Linking")
    }

    /// A phase that a program does not have took it no time.
    @Test func aPhaseThatIsNew() throws {
        let found = PartDifference.phases(
            of: launches(pairs: 10) { arm, _ in
                arm == 0 ? [("Wrapper: sh", 7), ("Main", 20)] : [("Main", 20)]
            })
        #expect(Set(found.map(\.name)) == ["Wrapper: sh", "Main"])
        let culprit = try #require(found.culprit)
        #expect(culprit.name == "Wrapper: sh" && culprit.difference == 7e6)
    }

    @Test func partsOfOneName() throws {
        let found = PartDifference.phases(
            of: launches(pairs: 8) { arm, _ in [("Main", 5), ("a", arm == 0 ? 9 : 1), ("Main", 5)] }
        )
        #expect(found.count == 2 && found.first { $0.name == "Main" }?.difference == 0)
    }

    /// A pair of which one launch does not know its processes says nothing of them.
    @Test func processes() throws {
        var launches = launches(pairs: 12) { _, _ in [("Main", 50)] }
        for index in launches.indices {
            let isNew = launches[index].arm == 0
            let wall = 40 + wavering(launches[index].arm, index)
            launches[index].processes = [
                MeasuredProcesses(name: "sh", count: 1, wall: span(wall)),
                MeasuredProcesses(name: "git", count: isNew ? 2 : 1, wall: span(isNew ? 9 : 4)),
            ]
        }
        launches[0].processes = nil
        let found = PartDifference.processes(of: launches)
        #expect(found.map(\.name) == ["sh", "git"])
        #expect(found.allSatisfy { $0.pairs == 11 })
        let culprit = try #require(found.culprit)
        #expect(culprit.name == "git" && culprit.difference == 5e6)
        // What went on lasted as long as the launch let it.
        let before = launches
        for index in launches.indices { launches[index].processes?[1].running = 1 }
        let ranOn = PartDifference.processes(of: launches)
        #expect(ranOn.map(\.ranOn) == [false, true] && ranOn.culprit == nil)
        launches = before
        for index in launches.indices where launches[index].arm == 1 {
            launches[index].processes = []
        }
        let started = try #require(PartDifference.processes(of: launches).culprit)
        #expect(started.name == "sh" && abs(started.difference - 40e6) < 2e6)
        for index in launches.indices { launches[index].processes = nil }
        #expect(PartDifference.processes(of: launches).isEmpty)
    }

    @Test func nothing() {
        #expect(PartDifference.phases(of: []).isEmpty)
        #expect(PartDifference.phases(of: launches(pairs: 9) { _, _ in [] }).isEmpty)
        #expect([PartDifference]().culprit == nil)
        let faster = launches(pairs: 9) { arm, _ in [("Main", arm == 0 ? 5 : 9)] }
        #expect(PartDifference.phases(of: faster).culprit == nil)
        // Too few to be sure of anything.
        let few = launches(pairs: 4) { arm, _ in [("Main", arm == 0 ? 50 : 9)] }
        #expect(PartDifference.phases(of: few).culprit == nil)
    }
}

@Suite struct HolmTests {
    @Test(
        arguments: [
            ([0.004, 0.02, 0.001], [true, false, true]),
            ([0.004, 0.009, 0.003], [true, true, true]),
            ([0.02, 0.02], [false, false]), ([0.004, 0.004], [true, true]),
            ([1, 0.02, 0.006], [false, false, false]),
            ([], []),
        ] as [([Double], [Bool])]) func stepByStep(chances: [Double], expected: [Bool])
    {
        #expect(Holm.rejected(chances, chance: 0.01) == expected)
    }
}

@Suite struct SignedRankChanceTests {
    /// It agrees with the bounds: below a chance exactly where the bound lies above.
    @Test func agreesWithBounds() throws {
        var samples = Samples(seed: 5)
        for count in [7, 10, 25, 301] {
            for _ in 0..<40 {
                let values = (0..<count).map { _ in samples.normal() + 0.6 }
                let chance = SignedRanks.chance(notAbove: 0, values)
                let bound = try #require(LocationEstimate(values, confidence: 0.99))
                #expect((chance <= 0.01) == (bound.low > 0), "\(count): \(chance) \(bound.low)")
            }
        }
    }

    @Test func extremes() {
        #expect(SignedRanks.chance(notAbove: 0, []) == 1)
        #expect(SignedRanks.chance(notAbove: 0, [1, 2, 3]) == 1 / 8.0)
        #expect(SignedRanks.chance(notAbove: 0, [-1, -2, -3]) == 1)
        #expect(SignedRanks.chance(notAbove: 5, [6, 7, 8]) == 1 / 8.0)
        #expect(SignedRanks.chance(notAbove: 0, [0, 0, 0, 0]) == 1)
        #expect(SignedRanks.chance(notAbove: 0, [.nan, 1]) == 1)
    }
}
