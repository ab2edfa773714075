import Testing

@testable import Analysis

@Suite struct MannWhitneyTests {
    /// Every way to deal ranks out to two samples, counted.
    private func dealt(_ n: Int, _ m: Int) -> [Double] {
        var counts = [Double](repeating: 0, count: n * m + 1)
        var ways = 0.0
        for mask in 0..<(1 << (n + m)) where mask.nonzeroBitCount == n {
            var (above, below) = (0, 0)
            for rank in 0..<(n + m) {
                if mask >> rank & 1 == 1 { above += below } else { below += 1 }
            }
            counts[above] += 1
            ways += 1
        }
        return counts.map { $0 / ways }
    }

    @Test func theDistributionIsExact() {
        for n in 1...6 {
            for m in 1...6 {
                let expected = dealt(n, m)
                let found = MannWhitney.distribution(n, m)
                #expect(found.count == n * m / 2 + 1)
                for (count, probability) in found.enumerated() {
                    #expect(abs(probability - expected[count]) < 1e-12)
                }
            }
        }
    }

    /// From the tables of Mann and Whitney's test: the largest count with at most 1 % of one side.
    @Test(arguments: [(5, 5, 1), (8, 8, 9), (10, 10, 19), (20, 20, 114), (10, 15, 33)])
    func tables(n: Int, m: Int, critical: Int) {
        let bound = MannWhitney.bound(counts: (n, m), confidence: 0.99)
        #expect(bound.rank == critical + 1)
        #expect(bound.confidence >= 0.99)
    }

    @Test func tooFew() {
        let bound = MannWhitney.bound(counts: (4, 4), confidence: 0.99)
        #expect(bound.rank == 1)
        #expect(abs(bound.confidence - (1 - 1 / 70.0)) < 1e-12)
        #expect(MannWhitney.bound(counts: (1, 1), confidence: 0.99).confidence == 0.5)
    }

    /// Where the approximation begins, it goes on as the exact one ends.
    @Test func theApproximationIsNear() {
        let exact = MannWhitney.bound(counts: (50, 50), confidence: 0.99)
        let near = MannWhitney.bound(counts: (50, 51), confidence: 0.99)
        #expect(abs(Double(near.rank - exact.rank) - 17) <= 6)
        #expect(near.confidence >= 0.99 && near.confidence < 0.9906)
    }
}

@Suite struct ShiftEstimateTests {
    private func naive(_ sample: [Double], _ other: [Double]) -> [Double] {
        sample.flatMap { value in other.map { value - $0 } }.sorted()
    }

    @Test(arguments: 1...30 as ClosedRange<UInt64>) func asTheListOfDifferences(seed: UInt64) throws
    {
        var samples = Samples(seed: seed)
        let n = Int.random(in: 1...25, using: &samples.random)
        let m = Int.random(in: 1...25, using: &samples.random)
        let (one, two) = (samples.values(n, of: .gamma), samples.values(m, of: .gamma))
        let differences = naive(one, two)
        let found = try #require(LocationEstimate(one, against: two, confidence: 0.99))
        let rank = MannWhitney.bound(counts: (n, m), confidence: 0.99).rank
        let (middle, count) = (differences.count / 2, differences.count)
        let median =
            count.isMultiple(of: 2)
            ? differences[middle - 1] / 2 + differences[middle] / 2 : differences[middle]
        #expect(abs(found.value - median) < 1e-12)
        #expect(found.low == differences[rank - 1])
        #expect(found.high == differences[count - rank])
    }

    /// The bounds hold as often as they say.
    @Test func bounds() throws {
        var samples = Samples(seed: 3)
        var wrong = 0
        for _ in 0..<400 {
            let (one, two) = (samples.values(10, of: .normal), samples.values(12, of: .normal))
            let found = try #require(LocationEstimate(one, against: two, confidence: 0.95))
            if found.low > 0 { wrong += 1 }
        }
        #expect((4...36).contains(wrong), "\(wrong) of 400")
    }

    @Test func nothing() {
        #expect(LocationEstimate([], against: [1], confidence: 0.99) == nil)
        #expect(LocationEstimate([1], against: [], confidence: 0.99) == nil)
        #expect(LocationEstimate([.infinity], against: [1], confidence: 0.99) == nil)
        let same = LocationEstimate([2, 2, 2], against: [2, 2], confidence: 0.99)
        #expect(same?.value == 0 && same?.low == 0 && same?.high == 0)
    }
}
