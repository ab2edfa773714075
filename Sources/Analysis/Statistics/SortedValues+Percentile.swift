import Glibc

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
