extension LocationEstimate {
    /// How far one sample lies above another, where their values do not belong together in pairs: the
    /// median of all differences between them (Hodges and Lehmann 1963), and the bounds that belong to
    /// Mann and Whitney's test. They assume that both samples have the same shape.
    ///
    /// - Parameter confidence: of each bound by itself, more than 0.5.
    /// - Returns: nil: one of them is empty, or has a value that is not finite.
    init?(_ sample: [Double], against other: [Double], confidence: Double) {
        guard let differences = SampleDifferences(sample, other) else { return nil }
        let bound = MannWhitney.bound(
            counts: (sample.count, other.count), confidence: confidence)
        let count = differences.count
        self.init(
            value: differences.smallest((count + 1) / 2) / 2
                + differences.smallest(count / 2 + 1) / 2,
            low: differences.smallest(bound.rank),
            high: differences.smallest(count + 1 - bound.rank),
            confidence: bound.confidence)
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

    var count: Int { sample.count * other.count }

    /// The `rank`-th smallest, counted from 1.
    func smallest(_ rank: Int) -> Double {
        let least = sample[0] - other[other.count - 1]
        let most = sample[sample.count - 1] - other[0]
        return RankSearch.smallest(rank, in: least...most, countNotAbove: countNotAbove)
    }

    /// In one pass: the larger the one, the larger the other must be.
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
