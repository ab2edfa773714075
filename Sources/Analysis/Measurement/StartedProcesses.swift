import ProfileModel

/// The processes of one name that launches started; those of one launch are added up. A launch that
/// started none counts as 0 of them, with no time.
package struct StartedProcesses: Hashable, Sendable {
    package var name: String
    /// The number of processes, in counts.
    package var count: Distribution
    /// From each one's begin to its end, or to the launch's, added up.
    package var wall: Distribution
    /// nil: not known of any launch.
    package var cpu: Distribution?
}

extension StartedProcesses {
    /// From launches whose processes are known: the longest first.
    static func all(of launches: [MeasuredLaunch]) -> [StartedProcesses] {
        let found = launches.compactMap { launch in
            launch.processes.map { processes in
                Dictionary(processes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
            }
        }
        return names(of: launches).compactMap { name in
            let of = found.map {
                $0[name] ?? MeasuredProcesses(name: name, count: 0, wall: .zero, cpu: .zero)
            }
            guard let count = Distribution(of.map { Double($0.count) }),
                let wall = Distribution(of.map { $0.wall.value })
            else { return nil }
            return StartedProcesses(
                name: name, count: count, wall: wall,
                cpu: Distribution(known: of.map { $0.cpu?.value }))
        }
    }

    /// The names with the most time in all launches first.
    static func names(of launches: [MeasuredLaunch]) -> [String] {
        var walls: [String: Double] = [:]
        for launch in launches {
            for process in launch.processes ?? [] {
                walls[process.name, default: 0] += process.wall.value
            }
        }
        return walls.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
    }
}

extension MeasuredLaunch {
    /// By their names, in nanoseconds.
    var processWalls: [String: Double] {
        (processes ?? []).reduce(into: [:]) { $0[$1.name, default: 0] += $1.wall.value }
    }
}
