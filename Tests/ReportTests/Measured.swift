import ProfileModel

@testable import Analysis

/// Measurements, and their summaries, made by hand.
enum Measured {
    static func arm(_ name: String, _ arguments: String...) -> MeasuredArm {
        MeasuredArm(command: [name] + arguments, path: "/usr/bin/\(name)")
    }

    static func measurement(
        _ arms: [MeasuredArm], requested: Int = 20,
        conditions: MeasuredConditions = MeasuredConditions()
    ) -> Measurement {
        var header = Measurement.Header(
            requested: requested, versionName: "1.4-rc2", recorderVersion: "0.1.0",
            date: 1_795_403_529_000_000_000)
        header.ending = .complete
        return Measurement(
            header: header, arms: arms, conditions: conditions,
            machine: MeasuredMachine(
                host: "bench", kernel: "6.18.0", architecture: "x86_64",
                processor: "Intel(R) Xeon(R)", cores: 2, memory: 8 << 30, governor: "performance",
                boot: "b1"))
    }

    /// Dynamic linking takes 10 ms of it.
    static func launch(
        _ number: Int, arm: Int = 0, wall: Int64, discarded: MeasuredLaunch.Discard? = nil
    ) -> MeasuredLaunch {
        var launch = MeasuredLaunch(
            arm: arm, start: .milliseconds(Int64(number) * 500), wall: .milliseconds(wall),
            outcome: .exited(0))
        launch.discarded = discarded
        launch.held = TimeSpan(nanoseconds: 210_000)
        launch.cpu = .milliseconds(wall / 2)
        launch.mainBlocked = .milliseconds(wall / 3)
        launch.minorFaults = 1_234
        launch.majorFaults = 0
        launch.readBytes = 0
        launch.otherWork = .milliseconds(2)
        launch.phases = [
            MeasuredPhase(name: "Dynamic linking", wall: .milliseconds(10), cpu: .milliseconds(9)),
            MeasuredPhase(name: "Main", wall: .milliseconds(wall - 10)),
        ]
        return launch
    }

    static func distribution(
        _ median: Double, _ low: Double, _ high: Double, p90: Double? = nil, min: Double,
        max: Double, count: Int = 20, confidence: Double = 0.959
    ) -> Distribution {
        Distribution(
            count: count, median: median,
            interval: .init(low: low, high: high, confidence: confidence), percentile90: p90,
            minimum: min, maximum: max)
    }

    /// 22 launches, the first and a cold one of which do not count.
    static func single() -> (Measurement, MeasurementSummary) {
        var measurement = measurement(
            [arm("starsearcher", "--quick")],
            conditions: MeasuredConditions(
                network: "3G", diskRate: 1 << 20, until: ["output:ready", "exit"]))
        let walls: [Int64] = [
            612, 372, 371, 375, 368, 370, 399, 372, 373, 371, 370, 372, 374, 376, 371, 381, 369,
            370, 372, 373, 371, 372,
        ]
        measurement.launches = walls.enumerated().map { launch($0.offset, wall: $0.element) }
        measurement.launches[0].discarded = .first
        measurement.launches[9].discarded = .otherStatus
        measurement.launches[9].outcome = .exited(3)
        measurement.launches[9].output = "cannot read stars.db:\n\u{1B}[31mdisk I/O error\n"
        let summary = MeasurementSummary(
            arms: [
                ArmSummary(
                    launches: 20, discarded: [.first: 1, .otherStatus: 1],
                    wall: distribution(372e6, 370.5e6, 373.2e6, p90: 381e6, min: 368e6, max: 399e6),
                    phases: [
                        PhaseSummary(
                            name: "Dynamic linking",
                            wall: distribution(
                                10e6, 9.98e6, 10.02e6, p90: 10.1e6, min: 9.9e6,
                                max: 10.2e6),
                            cpu: distribution(9e6, 8.9e6, 9.1e6, p90: 9.2e6, min: 8.8e6, max: 9.3e6)
                        ),
                        PhaseSummary(
                            name: "Main\u{1B}[1m",
                            wall: distribution(
                                362e6, 360e6, 363e6, min: 358e6, max: 389e6, count: 4,
                                confidence: 0.875),
                            cpu: nil),
                    ],
                    processes: [
                        StartedProcesses(
                            name: "git\u{1B}[1m",
                            count: distribution(2, 2, 2, p90: 2, min: 1, max: 3),
                            wall: distribution(20e6, 19e6, 21e6, p90: 22e6, min: 18e6, max: 24e6),
                            cpu: distribution(12e6, 11e6, 13e6, p90: 14e6, min: 10e6, max: 15e6)),
                        StartedProcesses(
                            name: "python3", count: distribution(1, 1, 1, p90: 1, min: 1, max: 1),
                            wall: distribution(8e6, 7e6, 9e6, p90: 9e6, min: 6e6, max: 9e6),
                            cpu: nil),
                    ],
                    cpu: distribution(186e6, 185e6, 187e6, p90: 190e6, min: 184e6, max: 199e6),
                    mainBlocked: nil,
                    minorFaults: distribution(
                        1_234.5, 1_230, 1_240, p90: 1_250, min: 1_200, max: 1_300),
                    majorFaults: distribution(0, 0, 0, p90: 0, min: 0, max: 0),
                    readBytes: distribution(0, 0, 4096, p90: 0, min: 0, max: 8192),
                    disturbances: [
                        .otherWork(share: 0.231, launches: 5),
                        .stolen(share: 0.031, launches: 1),
                        .frequency(lowest: 800_000, highest: 3_400_000),
                        .drift(share: 0.042),
                        .bimodal(lower: 370e6, lowerCount: 12, upper: 399e6, upperCount: 8),
                        .outliers([6]), .readFromDisk(launches: 3),
                    ])
            ], comparison: nil)
        return (measurement, summary)
    }

    /// Two arms that take turns.
    static func against() -> (Measurement, MeasurementSummary) {
        var measurement = measurement([arm("app", "--new"), arm("app")], requested: 5)
        for number in 0..<6 {
            let reason = number == 0 ? MeasuredLaunch.Discard.first : nil
            measurement.launches += [
                launch(2 * number, arm: 0, wall: 105 + Int64(number), discarded: reason),
                launch(2 * number + 1, arm: 1, wall: 100 + Int64(number), discarded: reason),
            ]
        }
        func summary(_ median: Double) -> ArmSummary {
            ArmSummary(
                launches: 5, discarded: [.first: 1],
                wall: Distribution(
                    count: 5, median: median,
                    interval: .init(low: median - 2e6, high: median + 2e6, confidence: 0.9375),
                    percentile90: nil, minimum: median - 2e6, maximum: median + 2e6),
                phases: [], processes: [], cpu: nil, mainBlocked: nil, minorFaults: nil,
                majorFaults: nil,
                readBytes: nil, disturbances: [])
        }
        let comparison = Comparison(
            pairs: 5, rule: ComparisonRule(), change: 0.0485, low: 0.031, high: 0.066,
            confidence: 0.96875, difference: 5e6, differenceLow: 3.2e6, differenceHigh: 6.8e6,
            detectable: 0.041,
            verdict: .slower)
        return (
            measurement,
            MeasurementSummary(arms: [summary(108e6), summary(103e6)], comparison: comparison)
        )
    }
}
