import MadeRecordings
import ProfileModel
import Testing

@testable import Analysis

@Suite struct LaunchHistoryTests {
    private static let day: Int64 = 86_400_000_000_000

    private func measurement(
        _ version: String?, day: Int64, _ walls: [Double] = [100, 101, 102],
        changing change: (inout Measurement) -> Void = { _ in }
    ) -> Measurement {
        var made = MeasurementBuilder(walls).measurement
        made.header.versionName = version
        made.header.date = day * Self.day + 5
        change(&made)
        return made
    }

    private func history(
        _ measurements: [Measurement], by grouping: LaunchHistory.Grouping = .version
    ) -> LaunchHistory {
        var builder = HistoryBuilder()
        for (number, measurement) in measurements.enumerated() {
            builder.add(measurement, file: "\(number)")
        }
        return builder.history(by: grouping)
    }

    private func labels(_ history: LaunchHistory) -> [[HistoryPoint.Label]] {
        history.series.map { $0.points.map(\.label) }
    }

    // MARK: Order

    @Test func versionsStandInTheOrderOfTheirFirstMeasurement() {
        let made = history([
            measurement("1.2", day: 30), measurement("1.10", day: 40), measurement("1.9", day: 35),
            measurement("1.2", day: 50),
        ])
        #expect(labels(made) == [[.version("1.2"), .version("1.9"), .version("1.10")]])
        #expect(made.series[0].points[0].sessions.map(\.file) == ["0", "3"])
    }

    /// Each order of reading gives the same history.
    @Test func orderOfReadingDoesNotMatter() {
        let all = (0..<5).map { measurement("\($0 % 3)", day: 10 + Int64($0), [100 + Double($0)]) }
        let first = history(all).series.map { $0.points.map(\.median) }
        for turn in 1..<5 {
            let turned = Array(all[turn...] + all[..<turn])
            #expect(history(turned).series.map { $0.points.map(\.median) } == first)
        }
    }

    @Test func daysAreThoseOfUTC() {
        let made = history(
            [
                measurement("a", day: 20), measurement("b", day: 20) { $0.header.date += 1_000 },
                measurement("c", day: 21) { $0.header.date -= 6 }, measurement("c", day: 21),
            ], by: .day)
        #expect(labels(made) == [[.day(20), .day(21)]])
        #expect(made.series[0].points.map(\.sessions.count) == [3, 1])
    }

    @Test func measurementsWithoutVersionStandForThemselves() {
        let made = history([measurement(nil, day: 3), measurement(nil, day: 2)])
        #expect(labels(made) == [[.unnamed(2 * Self.day + 5), .unnamed(3 * Self.day + 5)]])
    }

    // MARK: Series

    @Test func machinesThatDifferInTheirNameOnlyAreAlike() {
        let machines = ["a", "b", "c"]
        let all = machines.enumerated().map { index, host in
            measurement("1", day: Int64(index)) { $0.machine.host = host }
        }
        let other = measurement("1", day: 9) { $0.machine.cores += 1 }
        for (grouping, counts) in [
            (LaunchHistory.Machines.each, [1, 1, 1, 1]), (.alike, [3, 1]),
        ] {
            var builder = HistoryBuilder(machines: grouping)
            for (index, measurement) in (all + [other]).enumerated() {
                builder.add(measurement, file: "\(index)")
            }
            #expect(builder.history(by: .version).series.map(\.machines) == counts)
        }
    }

    /// Everything that makes figures no measure for each other, one by one.
    @Test func differentThingsAreDifferentSeries() {
        let changes: [(inout Measurement) -> Void] = [
            { $0.arms[0].path = "/home/dev/other" }, { $0.arms[0].command.append("--fast") },
            { $0.machine.host = "there" }, { $0.machine.processor = "another" },
            { $0.machine.cores = 8 }, { $0.machine.kernel = "6.2" },
            { $0.machine.architecture = "aarch64" }, { $0.conditions.cache = .cold },
            { $0.conditions.network = "3G" }, { $0.conditions.diskRate = 1 << 20 },
            { $0.conditions.until = ["window"] },
        ]
        for change in changes {
            let made = history([
                measurement("1", day: 1), measurement("2", day: 2, changing: change),
                measurement("3", day: 3),
            ])
            #expect(
                labels(made) == [[.version("1"), .version("3")], [.version("2")]])
        }
        let all = changes.enumerated().map { number, change in
            measurement("\(number)", day: 1, changing: change)
        }
        #expect(history(all).series.count == changes.count)
    }

    @Test func smallDifferencesKeepASeriesTogether() {
        let changes: [(inout Measurement) -> Void] = [
            { $0.arms[0].path = "/tmp/build-7/app" }, { $0.machine.boot = "another" },
            { $0.conditions.until = ["exit"] }, { $0.header.recorderVersion = "0.2" },
            { $0.header.requested = 3 },
        ]
        for change in changes {
            let made = history([
                measurement("1", day: 1), measurement("2", day: 2, changing: change),
            ])
            #expect(made.series.count == 1)
        }
    }

    @Test func theSameMeasurementCountsOnce() {
        let made = history([measurement("1", day: 1), measurement("1", day: 1)])
        #expect(made.sessions == 1)
        #expect(
            made.leftOut == [.init(file: "1", reason: "is the same measurement as 0")])
    }

    @Test func withoutLaunchesNothingIsShown() {
        let none = measurement("1", day: 1) { measurement in
            for index in measurement.launches.indices {
                measurement.launches[index].discarded = .failed
            }
        }
        let made = history([none])
        #expect(made.series.isEmpty)
        #expect(made.leftOut == [.init(file: "0", reason: "no launch counts")])
    }

    // MARK: Figures

    @Test func sessionsOfAVersionArePooled() throws {
        let made = history([
            measurement("1", day: 1, (1...20).map { Double($0) }),
            measurement("1", day: 2, (21...40).map { Double($0) }),
        ])
        let point = try #require(made.series.first?.points.first)
        #expect(point.launches == 40)
        #expect(point.median.value == 20.5e6)
        let percentile = try #require(point.percentile90)
        #expect(percentile.value == 36e6)
        let interval = try #require(percentile.interval)
        #expect(interval.low < 36e6 && 36e6 < interval.high)
    }

    @Test func fewLaunchesHaveNo90thPercentile() {
        let made = history([measurement("1", day: 1, (1...19).map { Double($0) })])
        #expect(made.series[0].points[0].percentile90 == nil)
    }

    @Test func onlyTheFirstProgramCounts() {
        var builder = MeasurementBuilder(arms: 2)
        for _ in 0..<5 {
            builder.launch(10, arm: 0)
            builder.launch(99, arm: 1)
        }
        builder.launch(5_000, arm: 0, discarded: .first)
        let point = history([builder.measurement]).series[0].points[0]
        #expect(point.median.value == 10e6 && point.launches == 5)
    }

    private func withPhases(_ version: Int, _ main: Double, _ linking: Double) -> Measurement {
        measurement("\(version)", day: Int64(version)) { measurement in
            measurement.launches = []
            for _ in 0..<5 {
                var launch = MeasuredLaunch(
                    arm: 0, start: .zero, wall: span(main + linking), outcome: .exited(0))
                launch.phases = [MeasuredPhase(name: "Main", wall: span(main))]
                if linking > 0 {
                    launch.phases.insert(
                        MeasuredPhase(name: "Dynamic linking", wall: span(linking)), at: 0)
                }
                measurement.launches.append(launch)
            }
        }
    }

    @Test func changeNamesItsPlaceAndPhase() throws {
        let main = [100, 101, 99, 100, 131, 130, 129, 130.5]
        let made = history(main.enumerated().map { withPhases($0, $1, $0 % 2 == 0 ? 2 : 2.1) })
        let change = try #require(made.series.first?.changes.first)
        #expect(made.series[0].changes.count == 1)
        #expect(change.point == 4)
        let phase = try #require(change.phase)
        #expect(phase.name == "Main")
        #expect(abs(phase.difference - 30.25e6) < 1)
    }

    @Test func phaseThatComesIsTheChange() throws {
        let made = history((0..<10).map { withPhases($0, 100 + Double($0 % 3), $0 < 5 ? 0 : 30) })
        let change = try #require(made.series.first?.changes.first)
        #expect(change.point == 5)
        #expect(change.phase == .init(name: "Dynamic linking", difference: 30e6))
    }

    // MARK: Bounds

    @Test func veryManyLaunchesAreThinned() throws {
        let walls = (1...9_999).map { Double($0) }
        let session = try #require(
            HistorySession(of: measurement("1", day: 1, walls), file: "a"))
        #expect(session.walls.count == 2_000 && session.launches == 9_999)
        #expect(abs(session.median - 5_000e6) < 5e6)
        #expect(session.walls.first == 1e6 && session.walls.last == 9_999e6)
    }

    @Test func veryManyPhasesAreNot() throws {
        let many = measurement("1", day: 1) { measurement in
            for index in 0..<3 {
                measurement.launches[index].phases = (0..<5_000).map {
                    MeasuredPhase(name: "\($0)", wall: TimeSpan(nanoseconds: 7))
                }
            }
        }
        let session = try #require(HistorySession(of: many, file: "a"))
        #expect(session.phases.count == 40)
    }
}
