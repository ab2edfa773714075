/// The location of differences: Hodges and Lehmann's estimate (1963), and the bounds of Wilcoxon's
/// signed ranks.
///
/// All three are averages of two differences (also of a difference with itself; Walsh's averages):
/// the median of all averages, and those outside of which a certain number of others lie. They
/// assume that differences are symmetric around their centre, as those of two programs that take
/// turns are. Zeros and equal differences need no special case: they make the bounds wider, never
/// less certain. (Noise too small to change any order would make them all different, and the bounds
/// exact.)
struct LocationEstimate: Hashable {
    var value: Double
    var low: Double
    var high: Double
    /// The confidence of each bound: at least as asked for, less where there are too few
    /// differences.
    var confidence: Double

    init(value: Double, low: Double, high: Double, confidence: Double) {
        (self.value, self.low, self.high) = (value, low, high)
        self.confidence = confidence
    }

    /// - Parameter confidence: of each bound by itself, more than 0.5.
    /// - Returns: nil for no differences, or one that is not finite.
    init?(_ differences: [Double], confidence: Double) {
        guard let averages = PairAverages(differences) else { return nil }
        let bound = SignedRanks.bound(count: differences.count, confidence: confidence)
        let count = averages.count
        value =
            averages.smallest((count + 1) / 2) / 2 + averages.smallest(count / 2 + 1) / 2
        low = averages.smallest(bound.rank)
        high = averages.smallest(count + 1 - bound.rank)
        self.confidence = bound.confidence
    }
}

/// The averages of all pairs of values, including each value with itself, without a list of them: a
/// hundred thousand values have five thousand million averages.
struct PairAverages {
    private let sorted: [Double]

    /// nil: no values, or one that is not finite.
    init?(_ values: [Double]) {
        guard !values.isEmpty, values.allSatisfy(\.isFinite) else { return nil }
        sorted = values.sorted()
    }

    var count: Int { sorted.count * (sorted.count + 1) / 2 }

    /// The `rank`-th smallest, counted from 1.
    func smallest(_ rank: Int) -> Double {
        RankSearch.smallest(
            rank, in: sorted[0]...sorted[sorted.count - 1], countNotAbove: countNotAbove)
    }

    /// In one pass: the larger the first value of a pair, the smaller the second may be.
    func countNotAbove(_ limit: Double) -> Int {
        var count = 0
        var end = sorted.count
        for first in sorted.indices {
            while end > first, Self.average(sorted[first], sorted[end - 1]) > limit { end -= 1 }
            guard end > first else { break }
            count += end - first
        }
        return count
    }

    private static func average(_ left: Double, _ right: Double) -> Double {
        left / 2 + right / 2
    }
}
