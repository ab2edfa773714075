import Testing

@testable import Analysis

@Suite struct LocationEstimateTests {
    /// Hamilton's depression scale of nine patients, after treatment less before: the example of
    /// Hollander and Wolfe, "Nonparametric Statistical Methods", with their estimate and interval.
    @Test func publishedExample() throws {
        let before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
        let after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
        let estimate = try #require(
            LocationEstimate(zip(after, before).map { $0 - $1 }, confidence: 0.98))
        #expect(abs(estimate.value - -0.46) < 1e-9)
        #expect(abs(estimate.low - -0.786) < 1e-9)
        #expect(abs(estimate.high - -0.010) < 1e-9)
        #expect(estimate.confidence == 1 - 10 / 512.0)
    }

    /// 1, 2 and 6: averages 1, 1.5, 2, 3.5, 4, 6.
    @Test func byHand() throws {
        let estimate = try #require(LocationEstimate([6, 1, 2], confidence: 0.99))
        #expect(estimate.value == 2.75)
        #expect(estimate.low == 1)
        #expect(estimate.high == 6)
        #expect(estimate.confidence == 0.875)
        let single = try #require(LocationEstimate([-4], confidence: 0.99))
        #expect((single.value, single.low, single.high) == (-4, -4, -4))
        #expect(single.confidence == 0.5)
    }

    @Test func nothingToEstimate() {
        #expect(LocationEstimate([], confidence: 0.99) == nil)
        #expect(LocationEstimate([1, .nan], confidence: 0.99) == nil)
        #expect(LocationEstimate([1, .infinity], confidence: 0.99) == nil)
    }

    /// Each rank is that of the sorted list of all averages: with ties, zeros, and numbers from
    /// end to end.
    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func ranksAreThoseOfAList(seed: UInt64) throws {
        var samples = Samples(seed: seed)
        let scale = [1, 1e-300, 1e300, 1e9][Int(seed % 4)]
        let values = (0..<Int.random(in: 1...12, using: &samples.random)).map { _ in
            seed.isMultiple(of: 3)
                ? Double(Int.random(in: -3...3, using: &samples.random))
                : scale * samples.normal()
        }
        var all: [Double] = []
        for first in values.indices {
            for second in values[first...] { all.append(values[first] / 2 + second / 2) }
        }
        all.sort()
        let averages = try #require(PairAverages(values))
        #expect(averages.count == all.count)
        #expect((1...all.count).map(averages.smallest) == all)
    }

    /// Moved and mirrored differences give moved and mirrored estimates.
    @Test(arguments: 1...20 as ClosedRange<UInt64>) func followsItsData(seed: UInt64) throws {
        var samples = Samples(seed: seed)
        let values = (0..<15).map { _ in Double(Int.random(in: -40...90, using: &samples.random)) }
        let plain = try #require(LocationEstimate(values, confidence: 0.99))
        let moved = try #require(LocationEstimate(values.map { $0 + 100 }, confidence: 0.99))
        let mirrored = try #require(LocationEstimate(values.map { -$0 }, confidence: 0.99))
        #expect(moved.value == plain.value + 100)
        #expect((moved.low, moved.high) == (plain.low + 100, plain.high + 100))
        #expect(mirrored.value == -plain.value)
        #expect((mirrored.low, mirrored.high) == (-plain.high, -plain.low))
        #expect(plain.low <= plain.value && plain.value <= plain.high)
    }

    /// The bounds miss as often as they say; rounded to whole numbers, with many ties and zeros,
    /// less often.
    @Test(arguments: [true, false]) func boundsHold(isContinuous: Bool) throws {
        var samples = Samples(seed: 11)
        var missed = 0
        for _ in 0..<6_000 {
            let values = (0..<10).map { _ in
                let value = samples.normal()
                return isContinuous ? value : value.rounded()
            }
            let estimate = try #require(LocationEstimate(values, confidence: 0.95))
            if estimate.low > 0 { missed += 1 }
        }
        // 5 % at most: for ten differences, 43 of 1,024.
        let share = Double(missed) / 6_000
        #expect(isContinuous ? abs(share - 43 / 1024.0) < 0.008 : share < 43 / 1024.0)
    }

    @Test func manyDifferences() throws {
        let values = (0..<100_000).map { Double($0 * 7919 % 100_003) }
        let estimate = try #require(LocationEstimate(values, confidence: 0.99))
        #expect(abs(estimate.value - 50_000) < 100)
        #expect(estimate.low < estimate.value && estimate.value < estimate.high)
        #expect(estimate.high - estimate.low < 1_000)
    }
}
