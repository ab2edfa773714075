package import ProfileModel

/// An initialiser of two launches. Of one that ran several times, all runs together.
package struct ComparedInitializer: Hashable, Sendable {
    package struct Figures: Hashable, Sendable {
        /// One of its runs, for the place in the source.
        package var frame: FrameID
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
        _ profiles: Compared<Profile>, _ stacks: MergedStacks
    ) -> [ComparedInitializer] {
        var result: [ComparedInitializer] = []
        var known: [FunctionID: Int] = [:]
        for side in Side.allCases {
            for run in profiles[side].initializers {
                let function = stacks.function(of: run.frame, in: profiles[side], side)
                let position = known[function] ?? result.count
                if position == result.count {
                    known[function] = position
                    result.append(
                        ComparedInitializer(
                            function: function, figures: Compared(before: nil, after: nil)))
                }
                result[position].add(run, side)
            }
        }
        return result.sortedByChange(\.wall)
    }

    private mutating func add(_ run: InitializerFigures, _ side: Side) {
        guard let sum = figures[side] else {
            figures[side] = Figures(frame: run.frame, runs: 1, wall: run.wall, cpu: run.cpu)
            return
        }
        figures[side] = Figures(
            frame: sum.frame, runs: sum.runs + 1, wall: sum.wall + run.wall,
            cpu: sum.cpu + run.cpu)
    }
}
