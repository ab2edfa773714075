import Glibc

/// Student's test: whether two samples have the same mean.
enum StudentT {
    /// How likely means would be as far apart if there were no difference (two-sided); both samples
    /// vary alike. 1 for samples that say nothing: fewer than three values in all, or an empty one.
    static func probability(_ first: some Collection<Double>, _ second: some Collection<Double>)
        -> Double
    {
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

    /// That a value of the distribution lies as far from 0 as `t`, on either side.
    static func probability(ofT t: Double, freedom: Double) -> Double {
        guard t.isFinite else { return t.isNaN ? 1 : 0 }
        return incompleteBeta(freedom / (freedom + t * t), freedom / 2, 0.5)
    }

    /// The regularised incomplete beta function (NIST's Digital Library of Mathematical Functions,
    /// 8.17.20 and 8.17.22), by its continued fraction on the side where that converges fast.
    static func incompleteBeta(_ x: Double, _ a: Double, _ b: Double) -> Double {
        guard x > 0 else { return 0 }
        guard x < 1 else { return 1 }
        let scale =
            lgamma(a + b) - lgamma(a) - lgamma(b) + a * x.logarithm + b * (1 - x).logarithm
        guard x < (a + 1) / (a + b + 2) else {
            return 1 - exp(scale) * fraction(1 - x, b, a) / b
        }
        return exp(scale) * fraction(x, a, b) / a
    }

    /// Lentz's method: from the first term on, until nothing changes.
    private static func fraction(_ x: Double, _ a: Double, _ b: Double) -> Double {
        func kept(_ value: Double) -> Double { abs(value) < 1e-300 ? 1e-300 : value }
        var (c, d) = (1.0, 1 / kept(1 - (a + b) * x / (a + 1)))
        var result = d
        for step in 1...300 {
            let m = Double(step)
            let even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
            let odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
            var change = 1.0
            for term in [even, odd] {
                d = 1 / kept(1 + term * d)
                c = kept(1 + term / c)
                change = c * d
                result *= change
            }
            if abs(change - 1) < 1e-14 { break }
        }
        return result
    }
}
