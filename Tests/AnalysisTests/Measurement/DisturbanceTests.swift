import MadeRecordings
import ProfileModel
import Testing

@testable import Analysis

@Suite struct DisturbanceTests {
    private func found(_ measurement: Measurement, arm: Int = 0) -> [Disturbance] {
        MeasurementSummary(of: measurement).arms[arm].disturbances
    }

    private static let calm: [Double] = [
        100, 102, 99, 101, 98, 100.5, 103, 99.5, 101.5, 98.5, 100.2, 97, 102.5, 99.8, 100.9, 101.2,
    ]

    @Test func calmLaunches() {
        let builder = MeasurementBuilder(Self.calm) {
            $0.otherWork = span(4)
            $0.stolen = span(0.5)
            $0.frequency = 3_000_000
            $0.readBytes = 0
        }
        #expect(found(builder.measurement).isEmpty)
    }

    @Test func otherWork() {
        var builder = MeasurementBuilder()
        for (index, wall) in Self.calm.enumerated() {
            // A core of two, in half of the launches; unknown of the last.
            builder.launch(wall) {
                $0.otherWork = index == 15 ? nil : span(index.isMultiple(of: 2) ? wall : 0)
            }
        }
        let all = found(builder.measurement)
        guard all.count == 1, case .otherWork(let share, let launches) = all[0] else {
            Issue.record("\(all)")
            return
        }
        #expect(abs(share - 0.26776) < 0.00001)
        #expect(launches == 8)
    }

    @Test func moreThanAllCoresIsAllCores() {
        let builder = MeasurementBuilder(Self.calm) { $0.otherWork = span(5_000) }
        #expect(found(builder.measurement) == [.otherWork(share: 1, launches: 16)])
    }

    @Test func stolen() {
        let builder = MeasurementBuilder(Self.calm) { $0.stolen = $0.wall }
        #expect(found(builder.measurement) == [.stolen(share: 0.5, launches: 16)])
    }

    @Test func unknownCores() {
        var builder = MeasurementBuilder(Self.calm) { $0.otherWork = $0.wall }
        builder.measurement.machine.cores = 0
        #expect(found(builder.measurement).isEmpty)
    }

    @Test(arguments: [(2_500_000, true), (2_800_000, false), (0, false)])
    func frequencies(lowest: Int64, isTold: Bool) {
        var builder = MeasurementBuilder(Self.calm) { $0.frequency = 3_000_000 }
        builder.measurement.launches[5].frequency = lowest
        #expect(
            found(builder.measurement)
                == (isTold ? [.frequency(lowest: lowest, highest: 3_000_000)] : []))
    }

    @Test func drift() {
        let drifting = Self.calm.enumerated().map { $1 * (1 + 0.01 * Double($0)) }
        let all = found(MeasurementBuilder(drifting).measurement)
        guard all.count == 1, case .drift(let share) = all[0] else {
            Issue.record("\(all)")
            return
        }
        #expect(abs(share - 0.14) < 0.03)
        // As sure, but by less than 3 %.
        let slow = (0..<16).map { 100 + 0.1 * Double($0) }
        #expect(found(MeasurementBuilder(slow).measurement).isEmpty)
    }

    @Test func twoKindsAndAnOutlierOfOne() {
        var builder = MeasurementBuilder()
        for (index, wall) in Self.calm.enumerated() { builder.launch(index % 2 == 0 ? wall : 150) }
        builder.launch(400)
        #expect(
            found(builder.measurement) == [
                .bimodal(lower: 100.55e6, lowerCount: 8, upper: 150e6, upperCount: 9),
                .outliers([16]),
            ])
    }

    /// Places are those of all launches, not of the arm's that count.
    @Test func outliers() {
        var builder = MeasurementBuilder(arms: 2)
        builder.launch(500, discarded: .first)
        for (index, wall) in Self.calm.enumerated() {
            builder.launch(wall, arm: 1)
            builder.launch(index == 3 ? 170 : wall)
        }
        #expect(found(builder.measurement) == [.outliers([8])])
        #expect(found(builder.measurement, arm: 1).isEmpty)
    }

    @Test(arguments: [(MeasuredConditions.Cache.warm, true), (.cold, false), (.coldAll, false)])
    func readingFromDisk(cache: MeasuredConditions.Cache, isTold: Bool) {
        var builder = MeasurementBuilder(cache: cache)
        for (index, wall) in Self.calm.enumerated() {
            builder.launch(wall) { $0.readBytes = index < 2 ? 4_096 : index == 2 ? nil : 0 }
        }
        #expect(
            found(builder.measurement) == (isTold ? [.readFromDisk(launches: 2)] : []))
    }

    @Test func gravestFirst() {
        let builder = MeasurementBuilder(Self.calm.enumerated().map { $0 == 9 ? 300 : $1 }) {
            $0.readBytes = 1
            $0.otherWork = $0.wall
            $0.stolen = $0.wall
            $0.frequency = $0.wall > span(100) ? 2_000_000 : 3_000_000
        }
        #expect(
            found(builder.measurement) == [
                .readFromDisk(launches: 16), .otherWork(share: 0.5, launches: 16),
                .stolen(share: 0.5, launches: 16),
                .frequency(lowest: 2_000_000, highest: 3_000_000), .outliers([9]),
            ])
    }
}
