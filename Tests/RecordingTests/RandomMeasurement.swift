import ProfileModel
import TestSupport

/// Measurements in which every field takes every kind of value that it may have.
struct RandomMeasurement {
    private var generator: SeededNumbers

    init(seed: UInt64) { generator = SeededNumbers(seed: seed) }

    private mutating func number(_ range: ClosedRange<Int>) -> Int {
        Int.random(in: range, using: &generator)
    }

    private mutating func maybe<Value>(_ value: Value) -> Value? {
        Bool.random(using: &generator) ? value : nil
    }

    private mutating func text() -> String {
        let samples = [
            "", "Main", "/usr/bin/python3", "Grüße, 世界 🔭", "a,b\n\"c\"\td", "=1+1",
            "'; DROP TABLE launches; --", "\u{1B}[31mred", "%s%n",
        ]
        return (samples.randomElement(using: &generator) ?? "") + String(number(0...99))
    }

    private mutating func count() -> Int64 {
        Int64(number(0...[0, 1, 999_999, 1 << 60][number(0...3)]))
    }

    private mutating func span() -> TimeSpan { TimeSpan(nanoseconds: count()) }

    mutating func make(launches: Int = 30) -> Measurement {
        var header = Measurement.Header(
            requested: number(1...100_000), versionName: maybe(text()), recorderVersion: text(),
            date: Int64(number(0...Int.max)))
        header.ending = Measurement.Ending.allCases[number(0...3)]
        let arms = (0..<number(1...2)).map { _ in
            MeasuredArm(command: (0..<number(1...4)).map { _ in text() }, path: text())
        }
        let conditions = MeasuredConditions(
            cache: MeasuredConditions.Cache.allCases[number(0...2)], network: maybe(text()),
            diskRate: maybe(count() + 1), until: (0..<number(0...3)).map { _ in text() })
        let machine = MeasuredMachine(
            host: text(), kernel: text(), architecture: text(), processor: text(),
            cores: number(1...512), memory: count(), governor: maybe(text()), boot: maybe(text()))
        var measurement = Measurement(
            header: header, arms: arms, conditions: conditions, machine: machine)
        var start = TimeSpan.zero
        for _ in 0..<launches {
            measurement.launches.append(launch(of: number(0...arms.count - 1), at: start))
            start += TimeSpan(nanoseconds: Int64(number(0...1_000_000)))
        }
        return measurement
    }

    private mutating func launch(of arm: Int, at start: TimeSpan) -> MeasuredLaunch {
        let outcomes: [Recording.Outcome] = [
            .exited(Int32(number(0...255))), .signalled(Int32(number(1...64))), .running, .unknown,
        ]
        var launch = MeasuredLaunch(
            arm: arm, start: start, wall: .zero, outcome: outcomes[number(0...3)])
        launch.phases = (0..<number(0...5)).map { _ in
            MeasuredPhase(
                name: text(), wall: TimeSpan(nanoseconds: Int64(number(0...1 << 40))),
                cpu: maybe(span()))
        }
        launch.wall =
            launch.phases.isEmpty ? span() : launch.phases.reduce(.zero) { $0 + $1.wall }
        launch.processes = maybe(
            (0..<number(0...4)).map { place in
                let count = number(1...40)
                return MeasuredProcesses(
                    name: "\(place) " + text(), count: count, running: number(0...count),
                    wall: span(), cpu: maybe(span()))
            })
        launch.discarded = maybe(MeasuredLaunch.Discard.allCases[number(0...7)])
        launch.held = span()
        launch.cpu = maybe(span())
        launch.mainBlocked = maybe(span())
        launch.minorFaults = maybe(count())
        launch.majorFaults = maybe(count())
        launch.readBytes = maybe(count())
        launch.cachedBytes = maybe(count())
        launch.fileBytes = maybe(count())
        launch.otherWork = maybe(span())
        launch.stolen = maybe(span())
        launch.frequency = maybe(count() + 1)
        launch.readyBy = maybe(text())
        launch.output = text()
        return launch
    }
}
