/// The difference between the means of two samples, and the interval that contains the true
/// difference (Welch 1947). The samples may have different variances.
struct MeanDifference: Hashable, Sendable {
    var value: Double
    var low: Double
    var high: Double

    /// Whether there is surely a difference.
    var excludesZero: Bool { low > 0 || high < 0 }

    /// - Parameter confidence: of the interval.
    /// - Returns: nil: a sample has fewer than two values, so its variance is not known.
    init?(_ sample: [Double], against other: [Double], confidence: Double = 0.95) {
        guard sample.allSatisfy(\.isFinite), other.allSatisfy(\.isFinite) else { return nil }
        let (one, two) = (Moments(sample), Moments(other))
        guard let ofOne = one.varianceOfMean, let ofTwo = two.varianceOfMean else { return nil }
        value = one.mean - two.mean
        let variance = ofOne + ofTwo
        guard variance > 0 else {
            (low, high) = (value, value)
            return
        }
        let freedom =
            variance * variance
            / (ofOne * ofOne / Double(one.count - 1) + ofTwo * ofTwo / Double(two.count - 1))
        let reach =
            StudentT.quantile(upperTail: (1 - confidence) / 2, freedom: freedom)
            * variance.squareRoot()
        (low, high) = (value - reach, value + reach)
    }
}
