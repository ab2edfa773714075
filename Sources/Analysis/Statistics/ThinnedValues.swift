/// Evenly spaced values that represent very many. They are enough for any percentile and any bound
/// that is shown. Fewer values only make intervals wider.
package enum ThinnedValues {
    /// The number of values that are kept.
    package static let most = 2_000

    /// - Parameter values: in ascending order.
    static func of(_ values: [Double]) -> [Double] {
        guard values.count > most else { return values }
        return (0..<most).map { values[$0 * (values.count - 1) / (most - 1)] }
    }
}
