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

/// The difference between the means of two samples, and the interval that contains the true
/// difference (Welch 1947). The samples may have different variances.
struct MeanDifference: Hashable, Sendable {
    var value: Double
    var low: Double
    var high: Double

    /// Whether there is surely a difference.
    var excludesZero: Bool { low > 0 || high < 0 }

    /// - Parameter confidence: of the interval.
    /// - Returns: nil: a sample has fewer than two values, so its variance is not known.
    init?(_ sample: [Double], against other: [Double], confidence: Double = 0.95) {
        guard sample.allSatisfy(\.isFinite), other.allSatisfy(\.isFinite) else { return nil }
        let (one, two) = (Moments(sample), Moments(other))
        guard let ofOne = one.varianceOfMean, let ofTwo = two.varianceOfMean else { return nil }
        value = one.mean - two.mean
        let variance = ofOne + ofTwo
        guard variance > 0 else {
            (low, high) = (value, value)
            return
        }
        let freedom =
            variance * variance
            / (ofOne * ofOne / Double(one.count - 1) + ofTwo * ofTwo / Double(two.count - 1))
        let reach =
            StudentT.quantile(upperTail: (1 - confidence) / 2, freedom: freedom)
            * variance.squareRoot()
        (low, high) = (value - reach, value + reach)
    }
}

/// Answers several questions at once, if the chance of any wrong answer must stay below a limit
/// (Holm 1979). It never answers fewer than dividing the chance equally among all does
/// (Bonferroni).
enum Holm {
    /// - Parameter chances: for each question, the probability of the result if there is no effect.
    /// - Returns: for each question, whether there is an effect.
    static func rejected(_ chances: [Double], chance: Double) -> [Bool] {
        var rejected = [Bool](repeating: false, count: chances.count)
        let order = chances.indices.sorted { chances[$0] < chances[$1] }
        for (place, index) in order.enumerated() {
            guard chances[index] <= chance / Double(chances.count - place) else { break }
            rejected[index] = true
        }
        return rejected
    }
}
