import TestSupport
import Testing

@testable import Analysis

/// A store with the values receives the ranks of the differences to show: they must be the same as
/// computed from the values.
struct ShiftRanksTests {
    private func store(
        _ after: [Double], _ before: [Double], _ ranks: ShiftRanks
    ) throws -> StoredDifference {
        func values(_ pairs: (Double, Double) -> Double) -> ShiftRanks.Values {
            let all = after.flatMap { one in before.map { pairs(one, $0) } }.sorted()
            return ShiftRanks.Values(
                low: all[ranks.low - 1], lowerMiddle: all[ranks.lowerMiddle - 1],
                upperMiddle: all[ranks.upperMiddle - 1], high: all[ranks.high - 1])
        }
        let hasRatio = (after + before).allSatisfy { $0 > 0 }
        return StoredDifference(
            counts: [after.count, before.count],
            median: try #require(SortedValues(after)).median,
            medianBefore: try #require(SortedValues(before)).median,
            differences: values { $0 - $1 },
            ratios: hasRatio ? values { $0 / $1 } : nil)
    }

    @Test(arguments: seeds(15))
    func storedFiguresAreThoseOfTheLaunches(seed: UInt64) throws {
        var samples = Samples(seed: seed)
        func walls(_ base: Int) -> [Double] {
            (0..<Int.random(in: 1...70, using: &samples.random)).map { _ in
                Double(base + Int.random(in: 0...20_000_000, using: &samples.random))
            }
        }
        // Some phases take no time.
        let base = seed.isMultiple(of: 5) ? 0 : 100_000_000
        let (after, before) = (walls(base), walls(base) + (base == 0 ? [0] : []))
        let confidence = seed.isMultiple(of: 2) ? 0.99 : 0.9975
        let ranks = ShiftRanks(counts: (after.count, before.count), confidence: confidence)
        let stored = UnpairedDifference(try store(after, before, ranks), ranks)
        let known = try #require(
            UnpairedDifference(after, against: before, confidence: confidence))
        #expect(stored.difference == known.difference)
        #expect(stored.counts == known.counts)
        #expect((stored.median, stored.medianBefore) == (known.median, known.medianBefore))
        #expect((stored.change == nil) == (known.change == nil))
        guard let change = stored.change, let other = known.change else { return }
        // Logarithms are rounded.
        for (one, another) in [
            (change.value, other.value), (change.low, other.low), (change.high, other.high),
        ] {
            #expect(abs(one - another) < 1e-12)
        }
        #expect(change.confidence == other.confidence)
    }

    @Test(arguments: [(1, 1), (1, 2), (3, 4), (50, 50), (51, 50), (2_000, 2_000)])
    func ranksAreWithin(one: Int, other: Int) {
        let ranks = ShiftRanks(counts: (one, other), confidence: 0.99)
        #expect(ranks.count == one * other)
        #expect(ranks.low >= 1 && ranks.high <= ranks.count)
        #expect(ranks.low <= ranks.lowerMiddle && ranks.upperMiddle <= ranks.high)
        #expect(ranks.lowerMiddle + ranks.upperMiddle == ranks.count + 1)
        #expect(ranks.low + ranks.high == ranks.count + 1)
    }

    @Test func thinnedValuesAreEvenlySpaced() {
        let few = (0..<ThinnedValues.most).map(Double.init)
        #expect(ThinnedValues.of(few) == few)
        let many = (0..<10_000).map(Double.init)
        let kept = ThinnedValues.of(many)
        #expect(kept.count == ThinnedValues.most)
        #expect(kept.first == 0 && kept.last == 9_999)
        #expect(zip(kept, kept.dropFirst()).allSatisfy { (5...6).contains($1 - $0) })
    }

    /// The words in which the store is asked for them: place by place, without a list of them.
    @Test(arguments: [2_001, 2_002, 3_999, 4_000, 10_000, 54_321])
    func aPlaceTellsWhetherItIsKept(count: Int) {
        let (gaps, steps) = (count - 1, ThinnedValues.most - 1)
        let places = (0..<count).filter { place in
            (place * steps + gaps - 1) / gaps * gaps / steps == place
        }
        #expect(places.map(Double.init) == ThinnedValues.of((0..<count).map(Double.init)))
    }
}
