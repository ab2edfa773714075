import Testing

@testable import Analysis

@Suite struct SignedRanksTests {
    /// Wilcoxon's table: the largest sum of ranks that is significant, one-sided.
    @Test(arguments: [
        (0.025, [6: 0, 7: 2, 8: 3, 9: 5, 10: 8, 12: 13, 15: 25, 20: 52, 25: 89, 30: 137]),
        (0.01, [7: 0, 8: 1, 9: 3, 10: 5, 12: 9, 15: 19, 20: 43, 25: 76, 30: 120]),
        (0.005, [8: 0, 9: 1, 10: 3, 12: 7, 15: 15, 20: 37, 25: 68, 30: 109]),
    ]) func criticalValues(level: Double, table: [Int: Int]) {
        for (count, sum) in table {
            let bound = SignedRanks.bound(count: count, confidence: 1 - level)
            #expect(bound.rank == sum + 1, "\(count) differences at \(level)")
            #expect(bound.confidence >= 1 - level)
        }
    }

    /// Of seven signs, all are the same once in 128 cases.
    @Test func confidencesAreExact() {
        #expect(SignedRanks.bound(count: 7, confidence: 0.99).confidence == 1 - 1 / 128.0)
        #expect(SignedRanks.bound(count: 10, confidence: 0.99).confidence == 1 - 10 / 1024.0)
    }

    @Test(arguments: 1...6) func tooFewKeepWhatTheyCan(count: Int) {
        let bound = SignedRanks.bound(count: count, confidence: 0.99)
        #expect(bound.rank == 1)
        #expect(bound.confidence == 1 - 1 / Double(1 << count))
    }

    /// All signs that there are, counted one by one.
    @Test(arguments: 1...10) func distributionIsThatOfAllSigns(count: Int) {
        var counts = [Int](repeating: 0, count: count * (count + 1) / 2 + 1)
        for signs in 0..<(1 << count) {
            counts[(0..<count).reduce(0) { $0 + (signs >> $1 & 1) * ($1 + 1) }] += 1
        }
        let expected = counts.map { Double($0) / Double(1 << count) }
        let found = SignedRanks.distribution(count)
        #expect(found == Array(expected.prefix(found.count)))
    }

    /// At the limit both ways give the same, or the next rank of thousands.
    @Test(arguments: [0.95, 0.99, 1 - 0.01 / 3])
    func approximationJoinsOn(confidence: Double) {
        let limit = SignedRanks.exactLimit
        let exact = SignedRanks.bound(count: limit, confidence: confidence)
        let above = SignedRanks.bound(count: limit + 1, confidence: confidence)
        let below = SignedRanks.bound(count: limit - 1, confidence: confidence)
        let step = exact.rank - below.rank
        #expect(abs(above.rank - exact.rank - step) <= 12)
        #expect(abs(above.confidence - exact.confidence) < 1e-4)
        #expect(above.confidence >= confidence)
    }

    @Test func manyDifferences() {
        let bound = SignedRanks.bound(count: 100_000, confidence: 0.99)
        #expect((0.99...0.9901).contains(bound.confidence))
        #expect(bound.rank > 0 && bound.rank < 100_000 * 100_001 / 4)
    }
}
