import MadeRecordings
import ProfileModel
import Testing

@testable import Analysis

@Suite struct StoredBaselineTests {
    private static let date: Int64 = 1_700_000_000_000_000_000

    private var stored: Measurement {
        var measurement = MeasurementBuilder([100, 101, 99, 100, 100, 101, 99, 100, 102, 98])
            .measurement
        measurement.arms = [MeasuredArm(command: ["app", "-x", "a b"], path: "/opt/app-1")]
        measurement.machine.boot = "b1"
        return measurement
    }

    @Test func armsThatArePresentTakeTurns() {
        let file = StoredBaseline.ProgramFile(changed: Self.date, isMeasured: false)
        #expect(StoredBaseline(stored, file: file) == .turns(["/opt/app-1", "-x", "a b"]))
    }

    @Test func othersAdvise() {
        func found(_ changed: Int64, _ isMeasured: Bool) -> StoredBaseline {
            StoredBaseline(stored, file: .init(changed: changed, isMeasured: isMeasured))
        }
        #expect(StoredBaseline(stored, file: nil) == .advice(.gone))
        #expect(found(Self.date + 1, false) == .advice(.changed))
        #expect(found(Self.date - 1, true) == .advice(.same))
        #expect(found(Self.date + 1, true) == .advice(.same))
        var none = stored
        none.arms = []
        #expect(
            StoredBaseline(none, file: .init(changed: 0, isMeasured: false)) == .advice(.gone))
    }

    private func advice(
        _ factor: Double, _ change: (inout Measurement) -> Void = { _ in }
    ) -> StoredAdvice {
        var measurement = stored
        for index in measurement.launches.indices {
            let wall = measurement.launches[index].wall.value * factor
            measurement.launches[index].wall = TimeSpan(nanoseconds: Int64(wall))
        }
        change(&measurement)
        return StoredAdvice(.gone, of: measurement, against: stored, rule: ComparisonRule())
    }

    /// However large the difference is.
    @Test func adviceIsNeverARegression() {
        #expect(advice(1).outcome == .passed)
        #expect(advice(0.5).outcome == .passed)
        #expect(advice(1.03).outcome == .inconclusive)
        #expect(advice(10).outcome == .inconclusive)
        #expect(advice(1) { $0.machine.boot = "b2" }.outcome == .passed)
    }

    /// Figures of another machine say nothing, whatever they are.
    @Test func otherCircumstances() {
        #expect(advice(1) { $0.machine.kernel = "7" }.outcome == .inconclusive)
        #expect(advice(0.5) { $0.machine.host = "x" }.outcome == .inconclusive)
        #expect(advice(1) { $0.conditions.cache = .cold }.outcome == .inconclusive)
        #expect(advice(1) { $0.launches = [] }.outcome == .inconclusive)
    }

    @Test func results() throws {
        let rule = GateRule()
        let advised = GateResult(of: stored, against: stored, because: .same, rule: rule)
        #expect(advised.outcome == .passed && advised.phases.isEmpty && advised.culprit == nil)
        let none = GateResult(ofTurns: MeasurementBuilder(arms: 2).measurement, rule: rule)
        #expect(none.outcome == .inconclusive)
        var builder = MeasurementBuilder(arms: 2)
        for turn in PairedOrder.turns(pairs: 20, seed: 3) {
            let wall = turn.arm == 0 ? 130.0 : 100
            builder.launch(wall, arm: turn.arm) {
                $0.phases = [MeasuredPhase(name: "Main", wall: span(wall))]
            }
        }
        let slower = GateResult(ofTurns: builder.measurement, rule: rule)
        #expect(slower.outcome == .regression)
        #expect(slower.culprit?.name == "Main" && slower.culprit?.difference == 30e6)
    }
}
