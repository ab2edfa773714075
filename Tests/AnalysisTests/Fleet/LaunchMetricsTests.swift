import MadeRecordings
import ProfileModel
import Testing

@testable import Analysis

@Suite struct LaunchMetricsTests {
    private func metrics(_ measurements: [Measurement]) -> LaunchMetrics {
        var metrics = LaunchMetrics()
        for measurement in measurements { metrics.add(measurement) }
        return metrics
    }

    @Test func countedLaunchesAreNamed() throws {
        var builder = MeasurementBuilder()
        builder.launch(900, discarded: .first)
        for wall in [12.0, 11, 10] { builder.launch(wall) }
        for reason in [MeasuredLaunch.Discard.failed, .failed, .hung, .warm, .interrupted] {
            builder.launch(1, discarded: reason)
        }
        let metrics = metrics([builder.measurement])
        let series = try #require(metrics.series.first?.value)
        #expect(metrics.series.count == 1)
        #expect(series.launch.count == 3 && series.launch.sum == .milliseconds(33))
        #expect(series.extended.count == 0)
        #expect(series.failures == [.failed: 2, .hung: 1])
        #expect(metrics.merged == 0 && metrics.mergedPhases == 0)
    }

    /// Time after readiness is not part of the launch; phases of one name are one.
    @Test func phases() throws {
        var builder = MeasurementBuilder()
        builder.launch(100) { launch in
            launch.phases = [
                MeasuredPhase(name: "Main", wall: .milliseconds(20)),
                MeasuredPhase(name: "Load", wall: .milliseconds(40)),
                MeasuredPhase(name: "Main", wall: .milliseconds(10)),
                MeasuredPhase(name: Phase.Names.extended, wall: .milliseconds(30)),
            ]
        }
        let series = try #require(metrics([builder.measurement]).series.first?.value)
        #expect(series.launch.sum == .milliseconds(70))
        #expect(series.extended.sum == .milliseconds(100) && series.extended.count == 1)
        #expect(series.phases.mapValues(\.count) == ["Main": 1, "Load": 1, "Extended": 1])
        #expect(series.phases["Main"]?.sum == .milliseconds(30))
    }

    @Test func filesAddUp() {
        let (one, other) = (MeasurementBuilder([1, 2]), MeasurementBuilder([3, 4, 5]))
        let both = metrics([one.measurement, other.measurement])
        #expect(both.series.count == 1)
        #expect(both.series.values.first?.launch.count == 5)
        #expect(both == metrics([other.measurement, one.measurement]))
    }

    @Test func seriesAreBounded() {
        let many = (0..<1000).map { number in
            var builder = MeasurementBuilder([1])
            builder.measurement.header.versionName = "\(number)"
            return builder.measurement
        }
        let metrics = metrics(many)
        #expect(metrics.series.count == LaunchMetrics.mostSeries)
        #expect(metrics.series.values.reduce(0) { $0 + $1.launch.count } == 1000)
        #expect(metrics.merged == 1000 - Int64(LaunchMetrics.mostSeries - 1))
        let other = metrics.series[LaunchMetrics.Labels(program: LaunchMetrics.other)]
        #expect(other?.launch.count == metrics.merged)
    }

    @Test func phasesAreBounded() throws {
        var builder = MeasurementBuilder()
        builder.launch(100) { launch in
            launch.phases = (0..<100).map {
                MeasuredPhase(name: "\($0)", wall: .milliseconds(1))
            }
        }
        let metrics = metrics([builder.measurement])
        let series = try #require(metrics.series.first?.value)
        #expect(series.phases.count == LaunchMetrics.mostPhases)
        #expect(series.phases.values.reduce(0) { $0 + $1.count } == 100)
        #expect(metrics.mergedPhases == 100 - Int64(LaunchMetrics.mostPhases - 1))
    }

    @Test func namesAreBounded() {
        var builder = MeasurementBuilder([1])
        // One character, as long as it is.
        builder.measurement.header.versionName = "e" + String(repeating: "\u{301}", count: 100_000)
        builder.launch(1) {
            $0.phases = [
                MeasuredPhase(name: String(repeating: "p", count: 9999), wall: .milliseconds(1))
            ]
        }
        let found = metrics([builder.measurement]).series
        #expect(found.keys.allSatisfy { $0.version.unicodeScalars.count == 200 })
        #expect(found.values.flatMap(\.phases.keys).allSatisfy { $0.count == 200 })
    }

    @Test func conditionsAndMachinesAreApart() {
        var builders = [MeasurementBuilder([1]), MeasurementBuilder([2]), MeasurementBuilder([3])]
        builders[1].measurement.conditions.cache = .cold
        builders[1].measurement.conditions.network = "3G"
        builders[2].measurement.machine.cores += 1
        let labels = metrics(builders.map(\.measurement)).series.keys.sorted()
        #expect(labels.count == 3)
        #expect(labels.map(\.conditions).sorted() == ["", "", "cold, network 3G"])
    }

    /// Times to different moments are not added up, nor those of two builds.
    @Test func endsAndBuildsAreApart() {
        var builder = MeasurementBuilder(arms: 2)
        builder.measurement.arms[1].path = "/home/dev/before/app"
        builder.measurement.conditions.until = ["listen:80"]
        builder.launch(1)
        builder.launch(2, arm: 1)
        let labels = metrics([builder.measurement]).series.keys.sorted()
        #expect(labels.map(\.program) == ["/home/dev/before/app", "app"])
        #expect(labels.allSatisfy { $0.conditions == "until listen:80" })
    }

    @Test func recordings() throws {
        var metrics = LaunchMetrics()
        var builder = RecordingBuilder()
        builder.border(.main, 10)
        builder.border(.ended, 50)
        let thread = builder.thread("main", tid: 7, to: 50, isMain: true)
        builder.slice(thread, at: 0, running: 50, nil)
        metrics.add(Profile(builder.recording), date: 5)
        builder.recording.header.outcome = .signalled(9)
        metrics.add(Profile(builder.recording), date: 3)
        let series = try #require(metrics.series.first?.value)
        #expect(series.launch.count == 1 && series.failures == [.failed: 1])
        #expect(series.phases.values.reduce(.zero) { $0 + $1.sum } == series.launch.sum)
        #expect(metrics.since == 3)
        // One that was ready, and was then ended, is a launch.
        builder.recording.ready = Readiness(time: RecordingBuilder.at(40), by: "notify")
        metrics.add(Profile(builder.recording), date: 4)
        #expect(metrics.series.values.first?.launch.count == 2)
    }
}
