import Glibc

/// Finds which of many values, counted from one end, is a bound.
enum RankBound {
    /// - Parameters:
    ///   - probabilities: of exactly 0, 1, 2 … values outside of the true centre.
    ///   - allowed: the allowed chance that the bound is wrong.
    /// - Returns: the bound's rank, counted from 1, and its confidence. If even the outermost value
    ///   is wrong more often, it is that value, with its own confidence.
    static func exact(
        _ probabilities: [Double], _ allowed: Double
    ) -> (rank: Int, confidence: Double) {
        var tail = probabilities.first ?? 1
        var rank = 1
        while rank < probabilities.count, tail + probabilities[rank] <= allowed {
            tail += probabilities[rank]
            rank += 1
        }
        return (rank, 1 - tail)
    }
}

/// Finds a value by its rank among very many values, without a list of them.
enum RankSearch {
    /// The `rank`-th smallest value, counted from 1.
    ///
    /// The search halves a range by the bits of a number until that is exactly one of the values.
    /// It takes 64 steps, and each counts the values that are not above the number.
    ///
    /// - Parameters:
    ///   - range: from the smallest value to the largest; all are finite.
    ///   - countNotAbove: the number of values that are not above a limit.
    static func smallest(
        _ rank: Int, in range: ClosedRange<Double>, countNotAbove: (Double) -> Int
    ) -> Double {
        var low = range.lowerBound.ordinal
        var high = range.upperBound.ordinal
        while low < high {
            let middle = low &+ Int64(UInt64(bitPattern: high &- low) / 2)
            if countNotAbove(Double(ordinal: middle)) >= rank {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return Double(ordinal: low)
    }
}

extension Double {
    /// Integers in the order of the numbers that they represent; 0 and -0 have the same.
    fileprivate var ordinal: Int64 {
        let bits = Int64(bitPattern: bitPattern)
        return bits >= 0 ? bits : Int64.min &- bits
    }

    fileprivate init(ordinal: Int64) {
        let bits = ordinal >= 0 ? ordinal : Int64.min &- ordinal
        self.init(bitPattern: UInt64(bitPattern: bits))
    }
}

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

/// The ranks of the differences between two samples' values that give the shift of one sample
/// against the other. They depend only on the samples' sizes, so a store that has the values can
/// look them up.
package struct ShiftRanks: Hashable, Sendable {
    /// Ranks of ascending differences, counted from 1. The median lies between the middle two; if
    /// the number of differences is odd, both are the same.
    package var low: Int
    package var lowerMiddle: Int
    package var upperMiddle: Int
    package var high: Int
    /// The number of differences.
    package var count: Int
    /// The confidence of each bound by itself: as asked for, or less where there are too few
    /// values.
    package var confidence: Double

    /// - Parameters:
    ///   - counts: of both samples, at least 1 each.
    ///   - confidence: of each bound by itself, more than 0.5.
    package init(counts: (Int, Int), confidence: Double) {
        let bound = MannWhitney.bound(counts: counts, confidence: confidence)
        count = counts.0 * counts.1
        (lowerMiddle, upperMiddle) = ((count + 1) / 2, count / 2 + 1)
        (low, high) = (bound.rank, count + 1 - bound.rank)
        self.confidence = bound.confidence
    }

    /// The values at these ranks.
    package struct Values: Hashable, Sendable {
        package var low: Double
        package var lowerMiddle: Double
        package var upperMiddle: Double
        package var high: Double

        package init(low: Double, lowerMiddle: Double, upperMiddle: Double, high: Double) {
            (self.low, self.high) = (low, high)
            (self.lowerMiddle, self.upperMiddle) = (lowerMiddle, upperMiddle)
        }

        /// The median.
        var middle: Double { lowerMiddle / 2 + upperMiddle / 2 }

        func mapped(_ change: (Double) -> Double) -> Values {
            Values(
                low: change(low), lowerMiddle: change(lowerMiddle),
                upperMiddle: change(upperMiddle), high: change(high))
        }
    }
}

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
