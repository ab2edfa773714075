import TestSupport
import Testing

@testable import Analysis

@Suite struct PercentileIntervalTests {
    /// The same by its definition: the sum of all terms of the binomial distribution.
    private func chance(atMost most: Int, of count: Int, _ share: Double) -> Double {
        var pascal = [1.0]
        for _ in 0..<count {
            pascal =
                [pascal[0] * (1 - share)]
                + zip(pascal, pascal.dropFirst()).map { $0 * share + $1 * (1 - share) }
                + [pascal[pascal.count - 1] * share]
        }
        return most < 0 ? 0 : pascal.prefix(most + 1).reduce(0, +)
    }

    @Test(arguments: [20, 34, 35, 36, 50, 100, 333]) func keepsItsConfidence(count: Int) throws {
        let values = try #require(SortedValues((1...count).map(Double.init)))
        let found = values.percentileInterval(0.9, confidence: 0.95)
        guard count >= 36 else {
            #expect(found == nil)
            return
        }
        let (low, high, confidence) = try #require(found)
        let outside =
            chance(atMost: Int(low) - 1, of: count, 0.9)
            + 1 - chance(atMost: Int(high) - 1, of: count, 0.9)
        #expect(abs(1 - outside - confidence) < 1e-9)
        #expect(confidence >= 0.95)
        #expect(low <= values.percentile90 && values.percentile90 <= high)
        // One rank further in, at either end, it would be too little.
        #expect(chance(atMost: Int(low), of: count, 0.9) > 0.025)
        #expect(1 - chance(atMost: Int(high) - 2, of: count, 0.9) > 0.025)
    }

    @Test(arguments: 6...120) func ofTheMedianAsItsOwn(count: Int) throws {
        let values = try #require(SortedValues((1...count).map(Double.init)))
        let own = try #require(values.medianInterval(confidence: 0.95))
        let found = try #require(values.percentileInterval(0.5, confidence: 0.95))
        #expect(found.low == own.low && found.high == own.high)
        #expect(abs(found.confidence - own.confidence) < 1e-9)
    }

    @Test func ofManyLaunches() throws {
        let values = try #require(SortedValues((1...100_000).map(Double.init)))
        let found = try #require(values.percentileInterval(0.9, confidence: 0.95))
        #expect(found.low > 89_700 && found.high < 90_300 && found.confidence >= 0.95)
    }
}
