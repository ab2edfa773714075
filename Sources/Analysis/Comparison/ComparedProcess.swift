package import ProfileModel

/// All processes of one name that the launches of both sides started.
package struct ComparedProcess: Hashable, Sendable {
    /// The name of the program that they ended up running.
    package var name: String
    /// In all launches of the side.
    package var counts: Compared<Int>
    /// From their forks to their ends, added up; with several launches, the means.
    package var wall: Compared<TimeSpan>
    package var cpu: Compared<TimeSpan>
    /// The wall in each launch.
    package var walls: LaunchWalls
    /// True if the mean number of these processes per launch differs between the sides.
    package var isOfOtherCount: Bool
}

extension ComparedProcess {
    /// Processes whose number differs between the sides first; then the largest change of wall.
    static func all(_ launches: Compared<[Profile]>) -> [ComparedProcess] {
        var found: [Sum] = []
        var known: [String: Int] = [:]
        for side in Side.allCases {
            for (launch, profile) in launches[side].enumerated() {
                for process in profile.processes where process.child != nil {
                    let position = known[process.name] ?? found.count
                    if position == found.count {
                        known[process.name] = position
                        found.append(Sum(process.name, launches))
                    }
                    found[position].add(process, of: launch, side, wall: profile.launch.wall)
                }
            }
        }
        let sorted = found.map { $0.compared(launches) }.sortedByChange(\.wall)
        return sorted.filter(\.isOfOtherCount) + sorted.filter { !$0.isOfOtherCount }
    }

    private struct Sum {
        let name: String
        private var counts = Compared<Int>.zero
        private var walls: LaunchSums
        private var cpu: LaunchSums

        init(_ name: String, _ launches: Compared<[Profile]>) {
            self.name = name
            (walls, cpu) = (LaunchSums(launches), LaunchSums(launches))
        }

        /// - Parameter wall: the launch's; a process that outlives the launch counts up to its end.
        mutating func add(
            _ process: ProcessFigures, of launch: Int, _ side: Side, wall: TimeSpan
        ) {
            counts[side] += 1
            walls.add(max(.zero, (process.end ?? wall) - process.start), to: launch, side)
            cpu.add(process.cpu, to: launch, side)
        }

        func compared(_ launches: Compared<[Profile]>) -> ComparedProcess {
            // As fractions, without dividing.
            let isOther =
                counts.before * launches.after.count != counts.after * launches.before.count
            return ComparedProcess(
                name: name, counts: counts, wall: walls.means, cpu: cpu.means, walls: walls.walls,
                isOfOtherCount: isOther)
        }
    }
}
