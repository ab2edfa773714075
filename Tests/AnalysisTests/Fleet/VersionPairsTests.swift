import ProfileModel
import Testing

@testable import Analysis

@Suite struct VersionPairsTests {
    private func sessions(
        _ launches: Int, machines: Int = 1, _ change: (inout Measurement) -> Void = { _ in }
    ) -> VersionSessions {
        var measurement = MeasurementBuilder().measurement
        measurement.machine.boot = "b1"
        change(&measurement)
        return VersionSessions(
            measurement, sessions: 2, machines: machines, launches: launches, firstDate: 5)
    }

    private func member(
        _ series: UInt64, _ side: MeasurementComparison.Side, _ sessions: VersionSessions
    ) -> VersionPairs.Member {
        VersionPairs.Member(series: series, side: side, sessions: sessions)
    }

    @Test func theLargestComesFirst() throws {
        let found = try VersionPairs([
            member(1, .before, sessions(10)), member(2, .before, sessions(50)),
            member(3, .before, sessions(7)), member(2, .after, sessions(20)),
            member(1, .after, sessions(30)), member(4, .after, sessions(9)),
        ])
        #expect(found.pairs.map(\.series) == [2, 1])
        #expect(found.pairs.map(\.before.launches) == [50, 10])
        #expect(found.pairs.map(\.after.launches) == [20, 30])
        #expect((found.aloneBefore, found.aloneAfter) == (7, 9))
    }

    @Test func refusals() {
        let old = member(1, .before, sessions(10))
        #expect(throws: VersionPairs.Refusal.nothingMeasured(.before)) { try VersionPairs([]) }
        #expect(throws: VersionPairs.Refusal.nothingMeasured(.after)) { try VersionPairs([old]) }
        let other = member(2, .after, sessions(10) { $0.machine.cores = 64 })
        #expect(throws: VersionPairs.Refusal.mismatches([.cores(before: 2, after: 64)])) {
            try VersionPairs([old, other])
        }
        // A new start is no reason.
        let same = member(2, .after, sessions(10) { $0.machine.boot = "b2" })
        #expect(throws: VersionPairs.Refusal.otherArguments) { try VersionPairs([old, same]) }
    }

    @Test func mismatchesAreThoseOfTwoMachines() throws {
        func mismatches(_ before: VersionSessions, _ after: VersionSessions) throws
            -> [MeasurementMismatch]
        {
            try #require(
                try VersionPairs([member(1, .before, before), member(1, .after, after)])
                    .pairs.first
            ).mismatches
        }
        #expect(try mismatches(sessions(1), sessions(1)).isEmpty)
        #expect(try mismatches(sessions(1), sessions(1) { $0.machine.boot = "b2" }) == [.boot])
        let there = sessions(1) { $0.machine.host = "there" }
        #expect(
            try mismatches(sessions(1), there) == [.machine(before: "here", after: "there")])
        // Of many machines none is held against another.
        #expect(
            try mismatches(
                sessions(1, machines: 3), sessions(1, machines: 4) { $0.machine.boot = "b2" }
            ).isEmpty)
    }

    @Test func names() throws {
        #expect(try VersionName.chosen("1.2", of: ["1.2", "1.2.1", "1.20"]) == "1.2")
        #expect(try VersionName.chosen("3f", of: ["3fa0"]) == "3fa0")
        #expect(throws: VersionName.Problem.unknown("2")) {
            try VersionName.chosen("2", of: [])
        }
        #expect(throws: VersionName.Problem.ambiguous("1.2", ["1.2.1", "1.20"])) {
            try VersionName.chosen("1.2", of: ["1.2.1", "1.20"])
        }
    }

    @Test func thinnedIsWhatHasMoreLaunchesThanAreKept() throws {
        let pair = try #require(
            try VersionPairs([
                member(1, .before, sessions(9)), member(1, .after, sessions(9)),
            ]).pairs.first)
        func comparison(_ launches: Int) throws -> VersionComparison {
            let ranks = ShiftRanks(counts: (2, 2), confidence: 0.99)
            let values = ShiftRanks.Values(low: 1, lowerMiddle: 2, upperMiddle: 3, high: 4)
            let launch = UnpairedDifference(
                StoredDifference(
                    counts: [launches, 10], median: 5, medianBefore: 3, differences: values,
                    ratios: nil), ranks)
            return VersionComparison(
                pair,
                MeasurementComparison(
                    launch: launch, phases: [], mismatches: [], dates: (5, 8),
                    rule: ComparisonRule()))
        }
        let few = try comparison(2_000)
        #expect(!few.isThinned && few.figures.interval == 3 && few.figures.processes.isEmpty)
        #expect(few.figures.launch.difference.value == 2.5)
        #expect(try comparison(2_001).isThinned)
    }
}
