import ProfileModel

/// Makes measurements by hand.
struct MeasurementBuilder {
    var measurement: Measurement

    init(arms: Int = 1, cache: MeasuredConditions.Cache = .warm, cores: Int = 2) {
        let names = ["/home/dev/app", "/home/dev/app-before", "/bin/true"]
        measurement = Measurement(
            header: .init(requested: 10, recorderVersion: "0.1.0", date: 1_700_000_000_000_000_000),
            arms: names.prefix(arms).map { MeasuredArm(command: [$0], path: $0) },
            conditions: MeasuredConditions(cache: cache),
            machine: MeasuredMachine(
                host: "here", kernel: "6.1.0", architecture: "x86_64", processor: "made up",
                cores: cores, memory: 1 << 30))
    }

    mutating func launch(
        _ milliseconds: Double, arm: Int = 0, discarded: MeasuredLaunch.Discard? = nil,
        _ change: (inout MeasuredLaunch) -> Void = { _ in }
    ) {
        var launch = MeasuredLaunch(
            arm: arm, start: .zero, wall: span(milliseconds), outcome: .exited(0))
        launch.discarded = discarded
        change(&launch)
        measurement.launches.append(launch)
    }

    /// Launches of arm 0 that all count.
    init(_ walls: [Double], _ change: (inout MeasuredLaunch) -> Void = { _ in }) {
        self.init()
        for wall in walls { launch(wall, change) }
    }
}

func span(_ milliseconds: Double) -> TimeSpan {
    TimeSpan(nanoseconds: Int64((milliseconds * 1e6).rounded()))
}
