import MadeRecordings
import ProfileModel
import Testing

@testable import Analysis

@Suite struct MeasurementMismatchTests {
    private var measured: Measurement {
        var builder = MeasurementBuilder()
        builder.measurement.machine.boot = "b1"
        return builder.measurement
    }

    private func found(_ change: (inout Measurement) -> Void) -> [MeasurementMismatch] {
        var other = measured
        change(&other)
        return MeasurementMismatch.all(before: measured, after: other)
    }

    @Test func nothing() {
        #expect(found { _ in }.isEmpty)
        // Values that are not circumstances.
        #expect(
            found {
                $0.header.versionName = "2"
                $0.header.requested = 99
                $0.machine.governor = "powersave"
                $0.conditions.until = ["exit"]
            }.isEmpty)
    }

    @Test func machines() {
        #expect(found { $0.machine.host = "x" } == [.machine(before: "here", after: "x")])
        #expect(
            found { $0.machine.processor = "x" } == [.processor(before: "made up", after: "x")])
        #expect(found { $0.machine.cores = 8 } == [.cores(before: 2, after: 8)])
        #expect(found { $0.machine.kernel = "7" } == [.kernel(before: "6.1.0", after: "7")])
        #expect(found { $0.machine.boot = "b2" } == [.boot])
        #expect(found { $0.machine.boot = nil } == [.unknownBoot])
        // Another machine was started at another time anyway.
        #expect(
            found {
                $0.machine.host = "x"
                $0.machine.boot = "b2"
            } == [.machine(before: "here", after: "x")])
    }

    @Test func conditions() {
        #expect(
            found {
                $0.conditions = MeasuredConditions(
                    cache: .coldAll, network: "3G", diskRate: 1_000_000,
                    until: ["notify", "exit", "listen"])
            } == [
                .condition(.cache, before: nil, after: "cold_all"),
                .condition(.network, before: nil, after: "3G"),
                .condition(.disk, before: nil, after: "1000000"),
                .condition(.until, before: nil, after: "listen, notify"),
            ])
    }

    /// After a new start a machine may still be as it was.
    @Test func differencesThatForbidAComparison() {
        #expect(!MeasurementMismatch.boot.isFatal && !MeasurementMismatch.unknownBoot.isFatal)
        #expect(MeasurementMismatch.cores(before: 1, after: 2).isFatal)
        #expect(MeasurementMismatch.condition(.cache, before: nil, after: "cold").isFatal)
    }
}

@Suite struct UnpairedDifferenceTests {
    private func measurement(_ walls: [Double]) -> Measurement {
        MeasurementBuilder(walls).measurement
    }

    @Test func figures() throws {
        let found = try #require(
            UnpairedDifference(
                of: measurement([110, 112, 111, 109, 110, 113, 108, 110]),
                against: measurement([100, 101, 99, 100, 102, 98, 100, 100, 101])))
        #expect(found.counts == [8, 9])
        #expect(found.median == 110e6 && found.medianBefore == 100e6)
        #expect(abs(found.difference.value - 10e6) < 1e6)
        #expect(found.difference.low <= found.difference.value)
        #expect(abs(try #require(found.change).value - 0.1) < 0.01)
        #expect(found.verdict(ComparisonRule()) == .slower)
        #expect(found.verdict(ComparisonRule(allowedShare: 0.2)) == .same)
        #expect(found.verdict(ComparisonRule(allowedDifference: .milliseconds(50))) == .same)
    }

    /// Only launches that count, of the first program.
    @Test func whichLaunches() throws {
        var builder = MeasurementBuilder(arms: 2)
        builder.launch(500, discarded: .first)
        builder.launch(900, arm: 1)
        for _ in 0..<10 { builder.launch(100) }
        let found = try #require(
            UnpairedDifference(of: builder.measurement, against: measurement([100, 100])))
        #expect(found.counts == [10, 2] && found.median == 100e6)
        // Two are too few.
        #expect(found.verdict(ComparisonRule()) == .inconclusive)
        #expect(UnpairedDifference(of: builder.measurement, against: measurement([])) == nil)
    }
}
