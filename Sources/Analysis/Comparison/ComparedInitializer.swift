package import ProfileModel

/// An initialiser on both sides. If it ran several times in a launch, all runs are added up. With
/// several launches, figures are means.
package struct ComparedInitializer: Hashable, Sendable {
    /// Of ``ProfileComparison/functions``.
    package var function: FunctionID
    /// One of its runs, for the place in the source; nil: it did not run, or was not seen.
    package var frames: Compared<SeenFrame?>
    package var wall: Compared<TimeSpan>
    package var cpu: Compared<TimeSpan>
    /// The wall in each launch.
    package var walls: LaunchWalls
}

extension ComparedInitializer {
    /// The largest change first.
    static func all(
        _ launches: Compared<[Profile]>, _ stacks: MergedStacks
    ) -> [ComparedInitializer] {
        var found: [Runs] = []
        var known: [FunctionID: Int] = [:]
        for side in Side.allCases {
            for (launch, profile) in launches[side].enumerated() {
                for run in profile.initializers {
                    let frame = SeenFrame(launch: launch, frame: run.frame)
                    let function = stacks.function(of: frame, in: launches, side)
                    let position = known[function] ?? found.count
                    if position == found.count {
                        known[function] = position
                        found.append(Runs(function, launches))
                    }
                    found[position].add(run, frame, side)
                }
            }
        }
        return found.map(\.compared).sortedByChange(\.wall)
    }

    /// All runs of one initialiser.
    private struct Runs {
        let function: FunctionID
        private var frames = Compared<SeenFrame?>(before: nil, after: nil)
        private var walls: LaunchSums
        private var cpu: LaunchSums

        init(_ function: FunctionID, _ launches: Compared<[Profile]>) {
            self.function = function
            (walls, cpu) = (LaunchSums(launches), LaunchSums(launches))
        }

        mutating func add(_ run: InitializerFigures, _ frame: SeenFrame, _ side: Side) {
            if frames[side] == nil { frames[side] = frame }
            walls.add(run.wall, to: frame.launch, side)
            cpu.add(run.cpu, to: frame.launch, side)
        }

        var compared: ComparedInitializer {
            ComparedInitializer(
                function: function, frames: frames, wall: walls.means, cpu: cpu.means,
                walls: walls.walls)
        }
    }
}
