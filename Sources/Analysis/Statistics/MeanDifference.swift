/// How far the mean of one sample lies above another's, and the interval that holds the true difference
/// (Welch 1947): the samples may differ in how much their values spread.
struct MeanDifference: Hashable, Sendable {
    var value: Double
    var low: Double
    var high: Double

    /// Whether it is sure that there is any difference.
    var excludesZero: Bool { low > 0 || high < 0 }

    /// - Parameter confidence: of the interval.
    /// - Returns: nil: a sample has fewer than two values, so that nobody knows how much they spread.
    init?(_ sample: [Double], against other: [Double], confidence: Double = 0.95) {
        guard let one = SampleMean(sample), let two = SampleMean(other) else { return nil }
        value = one.mean - two.mean
        let variance = one.ofMean + two.ofMean
        guard variance > 0 else {
            (low, high) = (value, value)
            return
        }
        let freedom =
            variance * variance
            / (one.ofMean * one.ofMean / (one.count - 1) + two.ofMean * two.ofMean / (two.count - 1))
        let reach =
            StudentT.quantile(upperTail: (1 - confidence) / 2, freedom: freedom)
            * variance.squareRoot()
        (low, high) = (value - reach, value + reach)
    }
}

private struct SampleMean {
    let count: Double
    let mean: Double
    /// The variance of the mean.
    let ofMean: Double

    init?(_ values: [Double]) {
        guard values.count > 1, values.allSatisfy(\.isFinite) else { return nil }
        count = Double(values.count)
        let mean = values.reduce(0, +) / count
        self.mean = mean
        let squares = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        ofMean = squares / (count - 1) / count
    }
}
