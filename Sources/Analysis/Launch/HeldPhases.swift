import ProfileModel

extension Profile {
    /// The phases with what the profiler held in each. What was held at a border belongs to the phase
    /// before it: it was held on its way out of there.
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
