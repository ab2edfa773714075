import Glibc

/// Student's distribution (Gosset 1908): how far the mean of a few values may be from the true one.
enum StudentT {
    /// The probability of a value between `-t` and `t`.
    ///
    /// With a whole number of degrees of freedom it is a finite sum (Abramowitz and Stegun 26.7.3
    /// and 26.7.4).
    ///
    /// - Parameter freedom: at least 1.
    static func probability(within t: Double, freedom: Int) -> Double {
        let angle = atan(t / Double(freedom).squareRoot())
        let (sine, cosine) = (sin(angle), cos(angle))
        let isOdd = !freedom.isMultiple(of: 2)
        var sum = 0.0
        var term = isOdd ? cosine : 1
        var step = isOdd ? 3 : 2
        // The last power of the cosine is the one of `freedom - 2`.
        while step <= freedom, term > 0 {
            sum += term
            term *= cosine * cosine * Double(step - 1) / Double(step)
            step += 2
        }
        return isOdd ? 2 / Double.pi * (angle + sine * sum) : sine * sum
    }

    /// From here on the normal distribution's is used, which is the same to three figures.
    private static let most = 2_000

    /// The `t` within which a value lies with a probability, from 0 to 0.999.
    static func quantile(within probability: Double, freedom: Int) -> Double {
        guard freedom < most else {
            return StandardNormal.quantile(upperTail: (1 - probability) / 2)
        }
        var (low, high) = (0.0, 1_000.0)
        for _ in 0..<64 {
            let middle = (low + high) / 2
            if self.probability(within: middle, freedom: freedom) < probability {
                low = middle
            } else {
                high = middle
            }
        }
        return high
    }
}
