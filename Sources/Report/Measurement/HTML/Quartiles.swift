/// The middle half of some values.
struct Quartiles: Hashable, Sendable {
    let lower: Double
    let upper: Double

    /// nil: there are too few values.
    init?(ascending values: [Double]) {
        guard values.count >= 4 else { return nil }
        lower = Self.value(at: 0.25, of: values)
        upper = Self.value(at: 0.75, of: values)
    }

    /// The value below which a share of the values lies, interpolated between two neighbours
    /// (Hyndman and Fan's seventh definition, as in R and NumPy). `values` must ascend, and not be
    /// empty.
    static func value(at share: Double, of values: [Double]) -> Double {
        let position = min(max(0, share), 1) * Double(values.count - 1)
        let below = Int(position)
        let above = min(below + 1, values.count - 1)
        return values[below] + (position - Double(below)) * (values[above] - values[below])
    }

    /// At most `most` of the values, evenly chosen, including the least and the greatest.
    static func thinned<Value>(_ values: [Value], to most: Int) -> [Value] {
        guard values.count > most, most > 1 else { return values }
        return (0..<most).map { values[$0 * (values.count - 1) / (most - 1)] }
    }
}
