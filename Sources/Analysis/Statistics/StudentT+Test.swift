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
