import MadeRecordings
import ProfileModel
import Testing

@testable import Analysis

@Suite struct ArmSummaryTests {
    private func arm(_ builder: MeasurementBuilder) throws -> ArmSummary {
        try #require(MeasurementSummary(of: builder.measurement).arms.first)
    }

    @Test func figuresAreOfTheLaunchesThatCount() throws {
        var builder = MeasurementBuilder()
        builder.launch(900, discarded: .first)
        for wall in [12.0, 11, 10, 13, 14, 15, 16] { builder.launch(wall) }
        builder.launch(1, discarded: .failed)
        builder.launch(2, discarded: .failed)
        let arm = try arm(builder)
        #expect(arm.launches == 7)
        #expect(arm.discarded == [.first: 1, .failed: 2])
        let wall = try #require(arm.wall)
        #expect(wall.count == 7)
        #expect(wall.median == 13e6)
        #expect((wall.minimum, wall.maximum) == (10e6, 16e6))
        #expect(wall.interval == .init(low: 10e6, high: 16e6, confidence: 1 - 2 / 128.0))
        #expect(wall.percentile90 == nil)
        #expect(MeasurementSummary(of: builder.measurement).comparison == nil)
    }

    @Test func thePercentileNeedsTwentyLaunches() throws {
        let walls = (1...20).map(Double.init)
        #expect(try arm(MeasurementBuilder(walls)).wall?.percentile90 == 18e6)
        #expect(try arm(MeasurementBuilder(Array(walls.dropLast()))).wall?.percentile90 == nil)
    }

    @Test func noLaunchCounts() throws {
        var builder = MeasurementBuilder()
        builder.launch(3, discarded: .hung)
        let arm = try arm(builder)
        #expect(arm.launches == 0)
        #expect(arm.wall == nil && arm.cpu == nil && arm.phases.isEmpty)
        #expect(arm.disturbances.isEmpty)
        #expect(MeasurementSummary(of: MeasurementBuilder(arms: 0).measurement).arms.isEmpty)
    }

    @Test func unknownFiguresAreNoZeros() throws {
        var builder = MeasurementBuilder()
        for index in 0..<4 {
            builder.launch(10) {
                $0.cpu = index < 3 ? .milliseconds(Int64(index)) : nil
                $0.minorFaults = index == 0 ? 70 : nil
            }
        }
        let arm = try arm(builder)
        #expect(arm.cpu?.count == 3)
        #expect(arm.cpu?.median == 1e6)
        #expect(arm.minorFaults?.count == 1)
        #expect(arm.minorFaults?.median == 70)
        #expect(arm.minorFaults?.interval == nil)
        #expect(arm.mainBlocked == nil && arm.majorFaults == nil && arm.readBytes == nil)
    }

    @Test func phasesInTheOrderOfTheirFirstAppearance() throws {
        var builder = MeasurementBuilder()
        let launches = [
            [("Process creation", 1.0), ("Main", 8)],
            [("Process creation", 3), ("Dynamic linking", 2), ("Main", 9)],
            [("Wrapper: sh", 1), ("Wrapper: sh", 2), ("Main", 10)],
        ]
        for phases in launches {
            builder.launch(11) {
                $0.phases = phases.map {
                    MeasuredPhase(
                        name: $0.0, wall: span($0.1), cpu: $0.0 == "Main" ? span($0.1) : nil)
                }
            }
        }
        builder.launch(5, discarded: .warm) {
            $0.phases = [MeasuredPhase(name: "Elsewhere", wall: span(5))]
        }
        let phases = try arm(builder).phases
        #expect(
            phases.map(\.name) == ["Process creation", "Main", "Dynamic linking", "Wrapper: sh"])
        #expect(phases.map(\.wall.count) == [2, 3, 1, 1])
        #expect(phases.map(\.wall.median) == [2e6, 9e6, 2e6, 3e6])
        #expect(phases.map { $0.cpu?.median } == [nil, 9e6, nil, nil])
    }

    @Test func phasesOfOneNameWithUnknownParts() throws {
        var builder = MeasurementBuilder()
        builder.launch(11) {
            $0.phases = [
                MeasuredPhase(name: "Step", wall: span(1), cpu: span(1)),
                MeasuredPhase(name: "Step", wall: span(2), cpu: nil),
            ]
        }
        let phase = try #require(try arm(builder).phases.first)
        #expect(phase.wall.median == 3e6)
        #expect(phase.cpu == nil)
    }

    /// Two arms have their own figures; a launch of an arm that does not exist has none.
    @Test func armsApart() {
        var builder = MeasurementBuilder(arms: 2)
        for (wall, arm) in [(10.0, 0), (20, 1), (30, 7), (40, -1)] {
            builder.launch(wall, arm: arm)
        }
        let arms = MeasurementSummary(of: builder.measurement).arms
        #expect(arms.map { $0.wall?.median } == [10e6, 20e6])
    }

    /// Whatever a file holds.
    @Test(arguments: [Int64.min, -1, 0, 1, .max]) func numbersAtTheEdge(wall: Int64) {
        var builder = MeasurementBuilder(arms: 2, cores: .max)
        for index in 0..<30 {
            builder.launch(0, arm: index % 2) {
                $0.wall = TimeSpan(nanoseconds: index % 3 == 0 ? 1 : wall)
                $0.cpu = TimeSpan(nanoseconds: wall)
                $0.otherWork = TimeSpan(nanoseconds: wall)
                $0.stolen = TimeSpan(nanoseconds: .max)
                $0.frequency = wall
                $0.readBytes = wall
                $0.phases = [MeasuredPhase(name: "", wall: TimeSpan(nanoseconds: wall))]
            }
        }
        let summary = MeasurementSummary(of: builder.measurement)
        #expect(summary.arms.map(\.launches) == [15, 15])
        for arm in summary.arms { #expect(arm.wall?.median.isFinite == true) }
    }
}
