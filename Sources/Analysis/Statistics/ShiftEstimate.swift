extension LocationEstimate {
    /// The shift of one sample against another without pairs: the median of all differences between
    /// them (Hodges and Lehmann 1963), and the bounds of Mann and Whitney's test. They assume that
    /// both samples have the same shape.
    ///
    /// - Parameter confidence: of each bound by itself, more than 0.5.
    /// - Returns: nil: one of the samples is empty, or has a value that is not finite.
    init?(_ sample: [Double], against other: [Double], confidence: Double) {
        guard let differences = SampleDifferences(sample, other) else { return nil }
        let ranks = ShiftRanks(counts: (sample.count, other.count), confidence: confidence)
        let values = ShiftRanks.Values(
            low: differences.smallest(ranks.low),
            lowerMiddle: differences.smallest(ranks.lowerMiddle),
            upperMiddle: differences.smallest(ranks.upperMiddle),
            high: differences.smallest(ranks.high))
        self.init(
            value: values.middle, low: values.low, high: values.high, confidence: ranks.confidence)
    }
}

/// All differences between the values of two samples, without a list of them.
private struct SampleDifferences {
    private let sample: [Double]
    private let other: [Double]

    init?(_ sample: [Double], _ other: [Double]) {
        guard !sample.isEmpty, !other.isEmpty, (sample + other).allSatisfy(\.isFinite) else {
            return nil
        }
        self.sample = sample.sorted()
        self.other = other.sorted()
    }

    /// The `rank`-th smallest, counted from 1.
    func smallest(_ rank: Int) -> Double {
        let least = sample[0] - other[other.count - 1]
        let most = sample[sample.count - 1] - other[0]
        return RankSearch.smallest(rank, in: least...most, countNotAbove: countNotAbove)
    }

    /// In one pass: the larger the one value, the larger the other must be.
    private func countNotAbove(_ limit: Double) -> Int {
        var count = 0
        var first = 0
        for value in sample {
            while first < other.count, value - other[first] > limit { first += 1 }
            count += other.count - first
        }
        return count
    }
}
