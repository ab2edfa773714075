import Glibc

/// Values in ascending order, all of them finite: at least one.
struct SortedValues {
    let values: [Double]

    /// nil: there is no finite value.
    init?(_ values: some Sequence<Double>) {
        self.values = values.filter(\.isFinite).sorted()
        if self.values.isEmpty { return nil }
    }

    var count: Int { values.count }
    var minimum: Double { values[0] }
    var maximum: Double { values[count - 1] }

    /// For an even number of values, the mean of the middle two.
    var median: Double {
        let upper = values[count / 2]
        return count.isMultiple(of: 2) ? values[count / 2 - 1] / 2 + upper / 2 : upper
    }

    /// The smallest value that at least nine tenths of all do not exceed: a measured one, without
    /// interpolation (nearest rank; Hyndman and Fan's first definition).
    var percentile90: Double { values[Self.percentile90Rank(count: count) - 1] }

    /// Its rank, counted from 1, for a number of values.
    static func percentile90Rank(count: Int) -> Int { (count * 9 + 9) / 10 }

    /// The interval between two of the values that contains the true median, for any distribution.
    ///
    /// The number of values below the median is binomial. So the confidence is exact; where values
    /// are equal, it is higher. Fewer than six values cannot give 95 %: their interval is from the
    /// smallest to the largest, with the confidence that this has.
    ///
    /// - Returns: nil for a single value.
    func medianInterval(confidence: Double) -> (low: Double, high: Double, confidence: Double)? {
        Self.medianRanks(count: count, confidence: confidence).map {
            (values[$0.low - 1], values[$0.high - 1], $0.confidence)
        }
    }

    /// The ranks of these values, counted from 1, for a number of values.
    static func medianRanks(
        count: Int, confidence: Double
    ) -> (low: Int, high: Int, confidence: Double)? {
        guard count >= 2 else { return nil }
        let allowed = (1 - confidence) / 2
        // The probability that at most `rank - 1` values lie below; the logarithms of its terms do
        // not underflow.
        var (rank, logTerm) = BinomialTail.start(count: count, 0.5)
        var tail = exp(logTerm)
        while rank < count / 2 {
            logTerm += (Double(count - rank + 1) / Double(rank)).logarithm
            let next = tail + exp(logTerm)
            guard next <= allowed else { break }
            tail = next
            rank += 1
        }
        return (rank, count - rank + 1, 1 - 2 * tail)
    }
}

extension Double {
    /// The natural logarithm.
    var logarithm: Double { log(self) }
}

extension SortedValues {
    /// The interval between two of the values that contains the true percentile, for any
    /// distribution, as for ``medianInterval(confidence:)``.
    ///
    /// - Parameter share: of the values that are not larger than the percentile, between 0 and 1.
    /// - Returns: nil: there are too few values for the confidence. The 90th percentile needs 36
    ///   values for 95 %: with fewer, all of them may well lie below it.
    func percentileInterval(
        _ share: Double, confidence: Double
    ) -> (low: Double, high: Double, confidence: Double)? {
        Self.percentileRanks(count: count, share, confidence: confidence).map {
            (values[$0.low - 1], values[$0.high - 1], $0.confidence)
        }
    }

    /// The ranks of these values, counted from 1, for a number of values.
    static func percentileRanks(
        count: Int, _ share: Double, confidence: Double
    ) -> (low: Int, high: Int, confidence: Double)? {
        guard share > 0, share < 1 else { return nil }
        let allowed = (1 - confidence) / 2
        let below = lowerTail(count, share, allowed)
        let above = lowerTail(count, 1 - share, allowed)
        guard let below, let above, below.rank + above.rank <= count + 1 else { return nil }
        return (below.rank, count - above.rank + 1, 1 - below.tail - above.tail)
    }

    /// The largest rank below which the percentile lies no more often than is allowed, and the
    /// probability of that: the number of values below it is binomial.
    private static func lowerTail(
        _ count: Int, _ share: Double, _ allowed: Double
    ) -> (rank: Int, tail: Double)? {
        // The logarithms of its terms do not underflow.
        var (rank, logTerm) = BinomialTail.start(count: count, share)
        let odds = (share / (1 - share)).logarithm
        var tail = exp(logTerm)
        guard tail <= allowed else { return nil }
        while rank < count {
            logTerm += (Double(count - rank + 1) / Double(rank)).logarithm + odds
            let next = tail + exp(logTerm)
            guard next <= allowed else { break }
            tail = next
            rank += 1
        }
        return (rank, tail)
    }
}

/// Evenly spaced values that represent very many. They are enough for any percentile and any bound
/// that is shown. Fewer values only make intervals wider.
package enum ThinnedValues {
    /// The number of values that are kept.
    package static let most = 2_000

    /// - Parameter values: in ascending order.
    static func of(_ values: [Double]) -> [Double] {
        guard values.count > most else { return values }
        return (0..<most).map { values[$0 * (values.count - 1) / (most - 1)] }
    }
}
