import MadeRecordings
import ProfileModel
import Testing

@testable import Analysis

@Suite struct MeasurementComparisonTests {
    /// Launches with two phases, in milliseconds.
    private func measured(
        _ linking: Double, _ main: Double, launches: Int = 12,
        _ change: (inout Measurement) -> Void = { _ in }
    ) -> Measurement {
        var builder = MeasurementBuilder()
        builder.measurement.machine.boot = "b1"
        for number in 0..<launches {
            let wavering = Double(number % 5 - 2) / 10
            builder.launch(linking + main + wavering) {
                $0.phases = [
                    MeasuredPhase(name: "Dynamic linking", wall: span(linking)),
                    MeasuredPhase(name: "Main", wall: span(main + wavering)),
                ]
            }
        }
        change(&builder.measurement)
        return builder.measurement
    }

    @Test func phases() throws {
        let found = try MeasurementComparison(
            before: measured(10, 50), after: measured(18, 48) { $0.header.date += 60_000_000_000 })
        #expect(found.verdict == .slower && found.mismatches.isEmpty)
        #expect(found.interval == 60_000_000_000)
        #expect(abs(found.launch.difference.value - 6e6) < 0.1e6)
        #expect(found.phases.map(\.name) == ["Dynamic linking", "Main"])
        #expect(found.phases[0].difference.difference.value == 8e6)
        #expect(abs(found.phases[1].difference.difference.value + 2e6) < 0.1e6)
        // Both phases share 1 %.
        #expect(found.phases[1].difference.difference.confidence >= 0.995)
    }

    @Test func aPhaseThatIsGone() throws {
        let found = try MeasurementComparison(
            before: measured(10, 50),
            after: measured(10, 50) { measurement in
                for index in measurement.launches.indices {
                    measurement.launches[index].phases.removeFirst()
                }
            })
        #expect(found.phases[0].difference.difference.value == -10e6)
        #expect(found.phases[0].difference.change == nil)
    }

    @Test func refusals() throws {
        let before = measured(10, 50)
        #expect(throws: MeasurementComparison.Refusal.mismatches([.cores(before: 2, after: 4)])) {
            try MeasurementComparison(
                before: before, after: measured(10, 50) { $0.machine.cores = 4 })
        }
        #expect(throws: MeasurementComparison.Refusal.nothingMeasured(.after)) {
            try MeasurementComparison(before: before, after: measured(1, 1, launches: 0))
        }
        #expect(throws: MeasurementComparison.Refusal.nothingMeasured(.before)) {
            try MeasurementComparison(before: measured(1, 1, launches: 0), after: before)
        }
        let anyway = try MeasurementComparison(
            before: before, after: measured(10, 50) { $0.machine.cores = 4 }, anyway: true)
        #expect(anyway.mismatches == [.cores(before: 2, after: 4)])
        // A new start is no reason to refuse.
        let restarted = try MeasurementComparison(
            before: before, after: measured(10, 50) { $0.machine.boot = "b2" })
        #expect(restarted.mismatches == [.boot] && restarted.verdict == .same)
    }

    @Test func datesOfNoSense() throws {
        let found = try MeasurementComparison(
            before: measured(1, 1) { $0.header.date = .min },
            after: measured(1, 1) { $0.header.date = .max })
        #expect(found.interval == .max)
    }
}
