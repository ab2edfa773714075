/// The middle half of some values.
struct Quartiles: Hashable, Sendable {
    let lower: Double
    let upper: Double

    /// nil: there are too few values for it to mean anything.
    init?(ascending values: [Double]) {
        guard values.count >= 4 else { return nil }
        lower = Self.value(at: 0.25, of: values)
        upper = Self.value(at: 0.75, of: values)
    }

    /// What a share of the values lies below, interpolated between two neighbours (Hyndman and
    /// Fan's seventh definition, as R and NumPy have it). `values` ascend, and are not empty.
    static func value(at share: Double, of values: [Double]) -> Double {
        let position = min(max(0, share), 1) * Double(values.count - 1)
        let below = Int(position)
        let above = min(below + 1, values.count - 1)
        return values[below] + (position - Double(below)) * (values[above] - values[below])
    }

    /// At most `most` of the values, evenly chosen; the least and the greatest are among them.
    static func thinned<Value>(_ values: [Value], to most: Int) -> [Value] {
        guard values.count > most, most > 1 else { return values }
        return (0..<most).map { values[$0 * (values.count - 1) / (most - 1)] }
    }
}
