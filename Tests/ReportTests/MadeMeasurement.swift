import ProfileModel
import TestSupport

@testable import Analysis

/// Made-up measurements, with summaries whose figures are as simple as possible: the tests are
/// about showing figures, not about computing them.
enum MadeMeasurement {
    /// Launches of one program, or of two that take turns, with phases that tile them. The first
    /// of each program does not count.
    static func measurement(
        launches count: Int = 20, programs: Int = 1, seed: UInt64 = 1
    ) -> Measurement {
        let arms = [
            MeasuredArm(command: ["./starsearcher", "--quick"], path: "/opt/new/starsearcher-new"),
            MeasuredArm(command: ["starsearcher-old"], path: "/usr/bin/starsearcher-old"),
        ]
        var measurement = Measurement(
            header: .init(
                requested: count, versionName: "1.4.2", recorderVersion: "0.1.0",
                date: 1_795_403_340_000_000_000),
            arms: Array(arms.prefix(programs)),
            conditions: MeasuredConditions(
                cache: .warm, network: "3G", diskRate: 1_048_576, until: ["listen:8080"]),
            machine: MeasuredMachine(
                host: "bench", kernel: "6.1.0-44-amd64", architecture: "x86_64",
                processor: "AMD EPYC 7B13", cores: 2, memory: 8_345_288_704,
                governor: "performance"))
        measurement.header.ending = .complete
        var numbers = SeededNumbers(seed: seed)
        var start = TimeSpan.zero
        for index in 0..<(count + 1) * programs {
            let arm = index % programs
            var launch = launch(arm, start, &numbers)
            if index < programs {
                launch.discarded = .first
                launch.wall = launch.wall + .milliseconds(180)
                launch.phases[1].wall = launch.phases[1].wall + .milliseconds(180)
                launch.readBytes = 12_345_678
            }
            start = start + launch.wall + .milliseconds(5)
            measurement.launches.append(launch)
        }
        return measurement
    }

    private static func launch(
        _ arm: Int, _ start: TimeSpan, _ numbers: inout SeededNumbers
    ) -> MeasuredLaunch {
        // Some 2.5 %, and now and then a straggler.
        func time(_ microseconds: Int64) -> TimeSpan {
            let noise = (0..<4).reduce(0 as Int64) { sum, _ in
                sum + Int64.random(in: -25...25, using: &numbers)
            }
            return TimeSpan(nanoseconds: microseconds * (1000 + noise / 2))
        }
        let straggles = Int.random(in: 0..<20, using: &numbers) == 0
        let phases = [
            MeasuredPhase(name: "Process creation", wall: time(1_210), cpu: time(900)),
            MeasuredPhase(name: "Dynamic linking", wall: time(6_300), cpu: time(6_100)),
            MeasuredPhase(
                name: "Static initialisers", wall: time(arm == 0 ? 11_000 : 9_500),
                cpu: time(9_000)),
            MeasuredPhase(
                name: "Main", wall: time(23_000) + .milliseconds(straggles ? 9 : 0),
                cpu: time(17_000)),
        ]
        let wall = phases.reduce(TimeSpan.zero) { $0 + $1.wall }
        var launch = MeasuredLaunch(arm: arm, start: start, wall: wall, outcome: .exited(0))
        launch.phases = phases
        launch.held = TimeSpan(nanoseconds: 120_000)
        launch.cpu = phases.reduce(TimeSpan.zero) { $0 + ($1.cpu ?? .zero) }
        launch.mainBlocked = time(4_000)
        launch.minorFaults = Int64.random(in: 905...925, using: &numbers)
        launch.majorFaults = 0
        launch.readBytes = 0
        launch.otherWork = time(300)
        launch.stolen = .zero
        launch.frequency = 3_200_000
        launch.readyBy = "listen:8080"
        return launch
    }

    // MARK: Summaries

    static func summary(of measurement: Measurement) -> MeasurementSummary {
        var summary = MeasurementSummary(
            arms: measurement.arms.indices.map { arm(measurement, $0) }, comparison: nil)
        if measurement.arms.count == 2 { summary.comparison = comparison }
        return summary
    }

    static let comparison = Comparison(
        pairs: 20, rule: ComparisonRule(), change: 0.0375, low: 0.0205, high: 0.0542,
        confidence: 0.99,
        difference: 1_512_000, differenceLow: 830_000, differenceHigh: 2_190_000,
        detectable: 0.018, verdict: .slower)

    private static func arm(_ measurement: Measurement, _ arm: Int) -> ArmSummary {
        let all = measurement.launches.filter { $0.arm == arm }
        let counted = all.filter { $0.discarded == nil }
        func figure(_ value: (MeasuredLaunch) -> Int64?) -> Distribution? {
            distribution(counted.compactMap(value))
        }
        var discarded: [MeasuredLaunch.Discard: Int] = [:]
        for reason in all.compactMap(\.discarded) { discarded[reason, default: 0] += 1 }
        let names = counted.first?.phases.map(\.name) ?? []
        let phases = names.compactMap { name -> PhaseSummary? in
            func time(_ time: @escaping (MeasuredPhase) -> TimeSpan?) -> Distribution? {
                figure { $0.phases.first { $0.name == name }.flatMap(time)?.nanoseconds }
            }
            return time({ $0.wall }).map { wall in
                PhaseSummary(name: name, wall: wall, cpu: time({ $0.cpu }))
            }
        }
        return ArmSummary(
            launches: counted.count, discarded: discarded,
            wall: figure { $0.wall.nanoseconds }, phases: phases, processes: [],
            cpu: figure { $0.cpu?.nanoseconds },
            mainBlocked: figure { $0.mainBlocked?.nanoseconds },
            minorFaults: figure { $0.minorFaults }, majorFaults: figure { $0.majorFaults },
            readBytes: figure { $0.readBytes }, disturbances: [])
    }

    /// Of the given values, in the simplest way.
    static func distribution(_ values: [Int64]) -> Distribution? {
        let ordered = values.sorted().map(Double.init)
        guard let least = ordered.first, let greatest = ordered.last else { return nil }
        let count = ordered.count
        let interval = Distribution.Interval(
            low: ordered[count * 3 / 10], high: ordered[count - 1 - count * 3 / 10],
            confidence: count < 6 ? 0.9375 : 0.9586)
        return Distribution(
            count: count, median: (ordered[(count - 1) / 2] + ordered[count / 2]) / 2,
            interval: count < 2 ? nil : interval,
            percentile90: count < 20 ? nil : ordered[count * 9 / 10], minimum: least,
            maximum: greatest)
    }

    // MARK: Hostile ones

    /// Would run if it got into the page as it is, in text, attributes or the script.
    static let evil =
        "</title></script><img src=x onerror=\"own()\">' onload='own()' &lt;\u{1b}[31m"

    /// Every text in it is evil.
    static func hostile() -> Measurement {
        var measurement = measurement(launches: 12, programs: 2)
        measurement.header.versionName = evil
        measurement.header.recorderVersion = evil
        measurement.arms[0] = MeasuredArm(command: [evil, evil], path: "/home/\(evil)")
        measurement.arms[1] = MeasuredArm(command: [evil], path: "/\(evil)2")
        measurement.conditions.network = evil
        measurement.conditions.until = [evil]
        measurement.machine = MeasuredMachine(
            host: evil, kernel: evil, architecture: evil, processor: evil, cores: 2, memory: 1,
            governor: evil, boot: evil)
        for index in measurement.launches.indices {
            measurement.launches[index].readyBy = evil
            for phase in measurement.launches[index].phases.indices {
                measurement.launches[index].phases[phase].name = "\(evil) \(phase)"
            }
        }
        measurement.launches[5].discarded = .failed
        measurement.launches[5].outcome = .signalled(11)
        measurement.launches[5].output = "first\n\(evil)\nlast"
        return measurement
    }
}
