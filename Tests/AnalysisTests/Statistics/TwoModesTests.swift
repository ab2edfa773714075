import Testing

@testable import Analysis

@Suite struct DipTests {
    private func dip(_ values: [Double]) throws -> Dip { Dip(try #require(SortedValues(values))) }

    /// As the package `diptest` (the authors' algorithm) gives them.
    @Test(arguments: [
        ([1, 2, 3, 10, 11, 12], 0.19444444444444445),
        ([1, 2, 4, 8, 16, 32, 33, 34, 35, 60], 0.1435483870967742),
        ([100, 101, 99, 100, 102, 98, 100, 140, 141, 139], 0.1423076923076923),
        ([1, 1, 2, 2, 2, 3, 9, 9, 9, 10, 10, 30], 0.17857142857142858),
        ([1, 1, 1, 1, 9, 9, 9, 9], 0.25),
    ]) func knownValues(values: [Double], expected: Double) throws {
        #expect(abs(try dip(values).value - expected) < 1e-12)
    }

    /// Steps are at least half a step from any line; two heaps are as far from one as it gets.
    @Test func leastAndLargest() throws {
        #expect(try dip([1, 2, 3, 4, 5, 6, 7, 8]).value == 1 / 16.0)
        #expect(try dip([7, 7, 7, 7]).value <= 1 / 8.0)
        let heaps = [Double](repeating: 1, count: 50) + [Double](repeating: 2, count: 50)
        #expect(abs(try dip(heaps).value - 0.25) < 0.01)
    }
}

@Suite struct TwoModesTests {
    private func find(_ values: [Double]) -> TwoModes? {
        SortedValues(values).flatMap { TwoModes($0) }
    }

    /// Whatever the shape of a single peak, fewer than one sample in a hundred seems to have two.
    /// Without any peak (uniform) it is about one.
    @Test(arguments: Samples.Shape.allCases, [10, 14, 20, 40])
    func falseAlarms(shape: Samples.Shape, count: Int) {
        var samples = Samples(seed: UInt64(count))
        var alarms = 0
        for _ in 0..<600 where find(samples.values(count, of: shape)) != nil { alarms += 1 }
        #expect(alarms < (shape == .uniform ? 14 : 6))
    }

    /// Modes of 3 % each, 40 % apart.
    @Test(arguments: [(10, 5), (20, 10), (20, 7), (40, 12), (100, 25), (1_000, 200)])
    func clearModesAreSeen(count: Int, slow: Int) throws {
        var samples = Samples(seed: UInt64(count + slow))
        var seen = 0
        for _ in 0..<100 {
            let values = (0..<count).map {
                ($0 < slow ? 140 : 100) * (1 + 0.03 * samples.normal())
            }
            guard let modes = find(values) else { continue }
            seen += 1
            #expect(modes.upperCount == slow)
            #expect(abs(modes.lower - 100) < 6 && abs(modes.upper - 140) < 8)
        }
        #expect(seen >= 65)
    }

    @Test func threeOfTen() throws {
        let modes = try #require(find([100, 101, 99, 100, 102, 98, 100, 140, 141, 139]))
        #expect(
            (modes.lower, modes.lowerCount, modes.upper, modes.upperCount) == (100, 7, 140, 3))
    }

    /// Two slow launches are outliers.
    @Test func aFewAreNoMode() {
        #expect(find([100, 101, 99, 100, 102, 98, 100, 101, 140, 141]) == nil)
        #expect(find([100, 101, 99, 100, 100, 140, 141]) == nil)
    }

    /// An outlier does not hide the modes, nor is it one.
    @Test func besideAnOutlier() throws {
        var samples = Samples(seed: 4)
        let values =
            (0..<40).map { ($0 % 2 == 0 ? 100 : 120) * (1 + 0.01 * samples.normal()) } + [900]
        let modes = try #require(find(values))
        #expect((modes.lowerCount, modes.upperCount) == (20, 21))
    }

    /// A clear but tiny distance is not reported.
    @Test func twoPercentApart() {
        #expect(find((0..<40).map { $0 % 2 == 0 ? 100 : 102 }) == nil)
        #expect(find((0..<40).map { $0 % 2 == 0 ? 100 : 104 }) != nil)
        #expect(find([Double](repeating: 100, count: 40)) == nil)
    }

    @Test func numbersAtTheEdge() throws {
        let largest = Double(Int64.max)
        let values = (0..<40).map { $0 % 2 == 0 ? -largest : largest }
        #expect(try #require(find(values)).upperCount == 20)
    }
}
