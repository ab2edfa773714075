package import ProfileModel

/// The cost of a function, over all the stacks that it occurs in.
package struct FunctionFigures: Hashable, Sendable {
    package var function: FunctionID
    /// While it was the innermost frame; waiting is charged to the function that waited.
    package var own: StateTimes
    /// While it was anywhere in the stack; recursion is counted once.
    package var total: StateTimes
}

extension Profile {
    /// Every function in the selection's stacks, by its own `weight`; if these are equal, by total,
    /// then by name. The own times add up to the selection's.
    package func functions(
        _ selection: Selection = .all, orderedBy weight: Weight
    ) -> [FunctionFigures] {
        // By CPU, so that no frames are added for waits.
        let totals = PathTotals(of: self, in: selection, weight: .cpu)
        let isOutermost = paths.outermostOccurrences(count: frames.functions.count) {
            Int($0.function.rawValue)
        }
        var figures = frames.functions.indices.map {
            FunctionFigures(
                function: FunctionID(Int32(truncatingIfNeeded: $0)), own: .zero, total: .zero)
        }
        for (index, path) in paths.paths.enumerated() {
            let function = Int(path.function.rawValue)
            figures[function].own = figures[function].own + totals.own[index]
            if isOutermost[index] {
                figures[function].total = figures[function].total + totals.total[index]
            }
        }
        return figures.filter { $0.total != .zero }.sorted { left, right in
            let own = (weight.of(left.own), weight.of(right.own))
            if own.0 != own.1 { return own.0 > own.1 }
            let total = (weight.of(left.total), weight.of(right.total))
            if total.0 != total.1 { return total.0 > total.1 }
            return frames.precedes(left.function, right.function)
        }
    }
}
