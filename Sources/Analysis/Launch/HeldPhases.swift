import ProfileModel

extension Profile {
    /// The phases, with the time for which the profiler stopped the program in each. A stop at a
    /// border belongs to the phase before it: the program was stopped when leaving that phase.
    static func phases(
        _ phases: [Phase], held: HeldTime, since start: MonotonicTime
    ) -> [Phase] {
        var result = phases
        for stretch in held.stretches {
            let moment = held.without(stretch.lowerBound) - start
            guard
                let index = result.firstIndex(where: { $0.end >= moment })
                    ?? result.indices.last
            else { break }
            result[index].held = result[index].held + (stretch.upperBound - stretch.lowerBound)
        }
        return result
    }
}
