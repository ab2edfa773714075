import Testing

@testable import Analysis

@Suite struct SortedValuesTests {
    @Test func medians() throws {
        #expect(try #require(SortedValues([3])).median == 3)
        #expect(try #require(SortedValues([5, 1, 3])).median == 3)
        #expect(try #require(SortedValues([8, 1, 3, 4])).median == 3.5)
        #expect(try #require(SortedValues([1, .infinity, .nan, 3])).median == 2)
        #expect(SortedValues([]) == nil)
        #expect(SortedValues([.nan]) == nil)
    }

    @Test(arguments: [(1, 1), (10, 9), (11, 10), (20, 18), (21, 19), (29, 27), (100, 90)])
    func theNinetiethPercentileWasMeasured(count: Int, expected: Int) throws {
        let values = try #require(SortedValues((1...count).map(Double.init)))
        #expect(values.percentile90 == Double(expected))
    }

    /// Ranks and confidences of the binomial distribution, as printed tables have them.
    @Test(arguments: [
        (2, 1, 0.5), (3, 1, 0.75), (5, 1, 0.9375), (6, 1, 0.96875), (7, 1, 0.984375),
        (8, 1, 0.9921875), (9, 2, 0.9609375), (10, 2, 0.978515625), (12, 3, 0.9614257812),
        (15, 4, 0.9648437500), (20, 6, 0.9586105347), (25, 8, 0.9567147493),
        (30, 10, 0.9572260547), (40, 14, 0.9615226917), (50, 18, 0.9671608623),
        (100, 40, 0.9647997998),
    ]) func intervalOfTheMedian(count: Int, rank: Int, confidence: Double) throws {
        let values = try #require(SortedValues((1...count).map(Double.init)))
        let interval = try #require(values.medianInterval(confidence: 0.95))
        #expect(interval.low == Double(rank))
        #expect(interval.high == Double(count + 1 - rank))
        #expect(abs(interval.confidence - confidence) < 1e-9)
    }

    @Test func oneValueHasNoInterval() throws {
        #expect(try #require(SortedValues([7])).medianInterval(confidence: 0.95) == nil)
    }

    /// 2 to the power of -100,000 is no number of ours; the interval is.
    @Test func manyValues() throws {
        let values = try #require(SortedValues((1...100_000).map(Double.init)))
        let interval = try #require(values.medianInterval(confidence: 0.95))
        // The mean less 1.96 standard deviations of 158.1.
        #expect(abs(interval.low - 49_690) <= 1)
        #expect(interval.low + interval.high == 100_001)
        #expect((0.95...0.951).contains(interval.confidence))
    }

    /// The confidence holds for skewed samples.
    @Test(arguments: [8, 10, 20]) func holdsTheMedianAsOftenAsItSays(count: Int) throws {
        var samples = Samples(seed: UInt64(count))
        let median = 95 + 5 * 0.6931471805599453
        var held = 0
        var confidence = 0.0
        for _ in 0..<4_000 {
            let values = samples.values(count, of: .exponential)
            let sorted = try #require(SortedValues(values))
            let interval = try #require(sorted.medianInterval(confidence: 0.95))
            if (interval.low...interval.high).contains(median) { held += 1 }
            confidence = interval.confidence
        }
        #expect(abs(Double(held) / 4_000 - confidence) < 0.012)
    }
}
