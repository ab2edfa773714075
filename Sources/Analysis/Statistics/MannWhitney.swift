import Glibc

/// Mann and Whitney's count for two samples without pairs: the number of combinations in which the
/// value of the first sample is above that of the second.
enum MannWhitney {
    /// Up to this number of combinations, probabilities are exact (some three million additions).
    /// Above it, the usual normal approximation with a correction for continuity is used.
    static let exactLimit = 2_500

    /// The number of differences, from either end, that lie outside of a bound.
    ///
    /// - Parameters:
    ///   - counts: of both samples, at least 1.
    ///   - confidence: of one bound, more than 0.5.
    /// - Returns: as for ``SignedRanks/bound(count:confidence:)``.
    static func bound(
        counts: (Int, Int), confidence: Double
    ) -> (rank: Int, confidence: Double) {
        let allowed = 1 - confidence
        guard counts.0 * counts.1 > exactLimit else {
            return RankBound.exact(distribution(counts.0, counts.1), allowed)
        }
        let (n, m) = (Double(counts.0), Double(counts.1))
        let (mean, deviation) = (n * m / 2, (n * m * (n + m + 1) / 12).squareRoot())
        func tail(_ count: Double) -> Double {
            StandardNormal.upperTail((mean - count - 0.5) / deviation)
        }
        let z = StandardNormal.quantile(upperTail: allowed)
        let count = max(0, (mean - 0.5 - z * deviation).rounded(.down))
        return (Int(count) + 1, 1 - tail(count))
    }

    /// The probabilities of the counts 0, 1, 2 … up to the middle, if both samples are alike. The
    /// largest value of all belongs to either sample, in proportion to its size. The rest is the
    /// same problem with one value fewer (Mann and Whitney 1947).
    static func distribution(_ n: Int, _ m: Int) -> [Double] {
        let middle = n * m / 2
        var row = [[Double]](repeating: [1], count: m + 1)
        for first in stride(from: 1, through: n, by: 1) {
            for second in stride(from: 1, through: m, by: 1) {
                row[second] = step(
                    above: row[second], beside: row[second - 1], (first, second), middle)
            }
        }
        return row[m]
    }

    /// - Parameters:
    ///   - above: with one value fewer in the first sample.
    ///   - beside: with one value fewer in the second.
    private static func step(
        above: [Double], beside: [Double], _ counts: (Int, Int), _ middle: Int
    ) -> [Double] {
        let (n, m) = (Double(counts.0), Double(counts.1))
        var result = [Double](repeating: 0, count: min(middle, counts.0 * counts.1) + 1)
        for (count, probability) in beside.enumerated() where count < result.count {
            result[count] += probability * m / (n + m)
        }
        for (count, probability) in above.enumerated() where count + counts.1 < result.count {
            result[count + counts.1] += probability * n / (n + m)
        }
        return result
    }
}
