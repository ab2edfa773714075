package import ProfileModel

/// An initialiser of both sides. Of one that ran several times in a launch, all runs together; of
/// several launches, the means.
package struct ComparedInitializer: Hashable, Sendable {
    package struct Figures: Hashable, Sendable {
        /// One of its runs, for the place in the source.
        package var frame: SeenFrame
        /// In all launches of the side.
        package var runs: Int
        package var wall: TimeSpan
        package var cpu: TimeSpan
    }

    /// Of ``ProfileComparison/functions``.
    package var function: FunctionID
    /// nil: it did not run, or was not seen.
    package var figures: Compared<Figures?>

    package var wall: Compared<TimeSpan> { figures.map { $0?.wall ?? .zero } }
}

extension ComparedInitializer {
    /// The largest change first.
    static func all(
        _ launches: Compared<[Profile]>, _ stacks: MergedStacks
    ) -> [ComparedInitializer] {
        var result: [ComparedInitializer] = []
        var known: [FunctionID: Int] = [:]
        for side in Side.allCases {
            for (launch, profile) in launches[side].enumerated() {
                for run in profile.initializers {
                    let frame = SeenFrame(launch: launch, frame: run.frame)
                    let function = stacks.function(of: frame, in: launches, side)
                    let position = known[function] ?? result.count
                    if position == result.count {
                        known[function] = position
                        result.append(
                            ComparedInitializer(
                                function: function, figures: Compared(before: nil, after: nil)))
                    }
                    result[position].add(run, frame, side)
                }
            }
            for position in result.indices {
                result[position].figures[side]?.divide(by: launches[side].count)
            }
        }
        return result.sortedByChange(\.wall)
    }

    private mutating func add(_ run: InitializerFigures, _ frame: SeenFrame, _ side: Side) {
        guard let sum = figures[side] else {
            figures[side] = Figures(frame: frame, runs: 1, wall: run.wall, cpu: run.cpu)
            return
        }
        figures[side] = Figures(
            frame: sum.frame, runs: sum.runs + 1, wall: sum.wall + run.wall,
            cpu: sum.cpu + run.cpu)
    }
}

extension ComparedInitializer.Figures {
    fileprivate mutating func divide(by launches: Int) {
        (wall, cpu) = (wall.mean(of: launches), cpu.mean(of: launches))
    }
}
