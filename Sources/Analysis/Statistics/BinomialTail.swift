import Glibc

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
