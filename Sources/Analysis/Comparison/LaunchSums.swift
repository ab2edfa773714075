import ProfileModel

/// The time that something took in each launch of both sides, added up as its parts are found.
struct LaunchSums {
    private var times: Compared<[TimeSpan]>

    init(_ launches: Compared<[Profile]>) {
        times = launches.map { [TimeSpan](repeating: .zero, count: $0.count) }
    }

    mutating func add(_ time: TimeSpan, to launch: Int, _ side: Side) {
        times[side][launch] = times[side][launch] + time
    }

    /// Per launch.
    var means: Compared<TimeSpan> { times.map { $0.reduce(.zero, +).mean(of: $0.count) } }

    /// The values that decide whether it changed.
    var walls: LaunchWalls { times.areSeveral ? times : .none }
}
