import Glibc

/// Wilcoxon's signed ranks for `count` differences that are symmetric around zero: the sum of the
/// ranks of the positive ones.
enum SignedRanks {
    /// Up to this count, probabilities are exact (some ten million additions); above it, the normal
    /// approximation with a correction for continuity differs by less than a hundred-thousandth.
    static let exactLimit = 300

    /// The number of averages of two differences, from either end, that lie outside of a bound.
    ///
    /// - Parameter confidence: of one bound, more than 0.5.
    /// - Returns: The bound is the `rank`-th smallest (or largest) average, counted from 1, and
    ///   holds with `confidence`: as asked for, or, where there are too few differences, that of
    ///   the outermost average.
    static func bound(count: Int, confidence: Double) -> (rank: Int, confidence: Double) {
        let allowed = 1 - confidence
        return count <= exactLimit
            ? exactBound(count, allowed) : approximateBound(count, allowed)
    }

    /// The probability of such differences, or of larger ones, if their centre is `limit` or less.
    /// A probability of more than half is returned as 1.
    static func chance(notAbove limit: Double, _ differences: [Double]) -> Double {
        guard let averages = PairAverages(differences.map { $0 - limit }) else { return 1 }
        return lowerTail(count: differences.count, sum: averages.countNotAbove(0))
    }

    /// The probability of a sum of at most `sum`; 1 from the middle on.
    static func lowerTail(count: Int, sum: Int) -> Double {
        guard sum < count * (count + 1) / 4 else { return 1 }
        if count > exactLimit { return approximateTail(count)(Double(sum)) }
        return distribution(count).prefix(sum + 1).reduce(0, +)
    }

    private static func exactBound(_ count: Int, _ allowed: Double) -> (Int, Double) {
        RankBound.exact(distribution(count), allowed)
    }

    private static func approximateBound(_ count: Int, _ allowed: Double) -> (Int, Double) {
        let (mean, deviation) = moments(count)
        let z = StandardNormal.quantile(upperTail: allowed)
        let sum = max(0, (mean - 0.5 - z * deviation).rounded(.down))
        return (Int(sum) + 1, 1 - approximateTail(count)(sum))
    }

    private static func approximateTail(_ count: Int) -> (Double) -> Double {
        let (mean, deviation) = moments(count)
        return { StandardNormal.upperTail((mean - $0 - 0.5) / deviation) }
    }

    private static func moments(_ count: Int) -> (mean: Double, deviation: Double) {
        let n = Double(count)
        return (n * (n + 1) / 4, (n * (n + 1) * (2 * n + 1) / 24).squareRoot())
    }

    /// The probabilities of the sums 0, 1, 2 … up to the middle: each rank is in the sum or not,
    /// with the same probability.
    static func distribution(_ count: Int) -> [Double] {
        let middle = count * (count + 1) / 4
        var probabilities = [Double](repeating: 0, count: middle + 1)
        probabilities[0] = 1
        var largest = 0
        for rank in stride(from: 1, through: count, by: 1) {
            largest = min(middle, largest + rank)
            for sum in stride(from: largest, through: 0, by: -1) {
                let with = sum >= rank ? probabilities[sum - rank] : 0
                probabilities[sum] = (probabilities[sum] + with) / 2
            }
        }
        return probabilities
    }
}
