/// Student's t distribution.
enum StudentT {
    /// The `t` that is exceeded with a probability, from 0 to 0.5, with this many degrees of
    /// freedom (more than 0; they need not be whole). At most 1e6, above which no probability of
    /// interest is left.
    static func quantile(upperTail probability: Double, freedom: Double) -> Double {
        var (low, high) = (0.0, 1e6)
        for _ in 0..<100 {
            let middle = (low + high) / 2
            if upperTail(middle, freedom: freedom) > probability {
                low = middle
            } else {
                high = middle
            }
        }
        return high
    }

    /// The probability of a value above `t`, which is not negative.
    static func upperTail(_ t: Double, freedom: Double) -> Double {
        IncompleteBeta.regularized(freedom / (freedom + t * t), freedom / 2, 0.5) / 2
    }
}
