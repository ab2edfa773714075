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

/// Student's test of whether two samples have the same mean.
extension StudentT {
    /// The probability that means are as far apart if there is no difference (two-sided), for
    /// samples of equal variance. 1 for samples that are too small: fewer than three values in all,
    /// or an empty one.
    static func probability(
        _ first: some Collection<Double>, _ second: some Collection<Double>
    ) -> Double {
        let (n, m) = (Double(first.count), Double(second.count))
        guard n >= 1, m >= 1, n + m > 2 else { return 1 }
        let (one, two) = (first.reduce(0, +) / n, second.reduce(0, +) / m)
        let squares =
            first.reduce(0) { $0 + ($1 - one) * ($1 - one) }
            + second.reduce(0) { $0 + ($1 - two) * ($1 - two) }
        let freedom = n + m - 2
        let error = (squares / freedom * (1 / n + 1 / m)).squareRoot()
        guard error > 0 else { return one == two ? 1 : 0 }
        return probability(ofT: (one - two) / error, freedom: freedom)
    }

    /// The probability that a value of the distribution is as far from 0 as `t`, on either side.
    static func probability(ofT t: Double, freedom: Double) -> Double {
        guard t.isFinite else { return t.isNaN ? 1 : 0 }
        return 2 * upperTail(abs(t), freedom: freedom)
    }
}

/// The regularised incomplete beta function, by its continued fraction (Abramowitz and Stegun,
/// 26.5.8) in Lentz's evaluation.
enum IncompleteBeta {
    static func regularized(_ x: Double, _ a: Double, _ b: Double) -> Double {
        guard x > 0 else { return 0 }
        guard x < 1 else { return 1 }
        let factor = exp(
            lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
        // The fraction converges quickly on this side of the mean only.
        return x < (a + 1) / (a + b + 2)
            ? factor * fraction(x, a, b) / a : 1 - factor * fraction(1 - x, b, a) / b
    }

    private static func fraction(_ x: Double, _ a: Double, _ b: Double) -> Double {
        let tiny = 1e-300
        func kept(_ value: Double) -> Double { abs(value) < tiny ? tiny : value }
        var c = 1.0
        var d = 1 / kept(1 - (a + b) * x / (a + 1))
        var result = d
        for step in 1...500 {
            let m = Double(step)
            let even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
            d = 1 / kept(1 + even * d)
            c = kept(1 + even / c)
            result *= d * c
            let odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
            d = 1 / kept(1 + odd * d)
            c = kept(1 + odd / c)
            result *= d * c
            if abs(d * c - 1) < 1e-15 { break }
        }
        return result
    }
}

/// Finds the term at which summing the lower tail of a binomial distribution begins.
enum BinomialTail {
    /// With fewer terms than this, the sum begins at the first one.
    private static let few = 10_000
    /// In standard deviations below the mean: the terms further down are less than 1e-40 in all.
    private static let reach = 14.0

    /// The rank of the first term that matters, counted from 1, and its logarithm: the probability
    /// that (rank − 1) values lie below, each with probability `share`.
    static func start(count: Int, _ share: Double) -> (rank: Int, logTerm: Double) {
        let n = Double(count)
        guard count > few else { return (1, n * (1 - share).logarithm) }
        let below = max(
            0, (n * share - reach * (n * share * (1 - share)).squareRoot()).rounded(.down))
        let ways = lgamma(n + 1) - lgamma(below + 1) - lgamma(n - below + 1)
        let logTerm = ways + below * share.logarithm + (n - below) * (1 - share).logarithm
        return (Int(below) + 1, logTerm)
    }
}
