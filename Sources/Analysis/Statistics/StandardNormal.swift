import Glibc

/// The normal distribution with mean 0 and standard deviation 1.
enum StandardNormal {
    /// The probability of a value above `z`.
    static func upperTail(_ z: Double) -> Double { 0.5 * erfc(z / 2.0.squareRoot()) }

    /// The `z` that is exceeded with a probability, from 0 to 0.5; at most 40, above which the
    /// probability is negligible.
    static func quantile(upperTail probability: Double) -> Double {
        var (low, high) = (0.0, 40.0)
        for _ in 0..<64 {
            let middle = (low + high) / 2
            if upperTail(middle) > probability { low = middle } else { high = middle }
        }
        return high
    }
}
