import TestSupport
import Testing

@testable import Analysis

@Suite struct ChangePointTests {
    /// Values around levels, each as long as told; the noise is a share of them.
    private func series(
        _ levels: [(value: Double, count: Int)], noise: Double = 0.01, seed: UInt64 = 1
    ) -> [Double] {
        var numbers = SeededNumbers(seed: seed)
        return levels.flatMap { level in
            (0..<level.count).map { _ in
                let sum = (0..<12).reduce(-6) { sum, _ in
                    sum + Double.random(in: 0..<1, using: &numbers)
                }
                return level.value * (1 + noise * sum)
            }
        }
    }

    private func places(_ values: [Double], _ rule: ChangePointRule = .init()) -> [Int] {
        ChangePointSearch.changes(in: values, rule: rule).map(\.index)
    }

    /// Three values at an end look like a spike to their neighbours: they are not told yet.
    @Test(arguments: 4...39) func clearStepIsFoundWhereverItIs(place: Int) {
        let values = series([(100, place), (120, 43 - place)], noise: 0.002)
        #expect(places(values) == [place])
    }

    @Test func stepSaysHowLargeItIs() throws {
        let values = series([(100, 30), (110, 30)], noise: 0.002)
        let change = try #require(ChangePointSearch.changes(in: values).first)
        #expect(abs(change.before - 100) < 0.3)
        #expect(abs(change.after - 110) < 0.3)
        #expect(abs(change.change - 0.1) < 0.005)
        #expect(change.probability < 0.001)
    }

    @Test func severalSteps() {
        let levels: [(value: Double, count: Int)] = [(100, 40), (110, 35), (95, 60), (120, 20)]
        #expect(places(series(levels, noise: 0.005)) == [40, 75, 135])
    }

    /// Windows end at every place in turn.
    @Test(arguments: Array(stride(from: 10, through: 190, by: 9)))
    func longerThanAWindow(place: Int) {
        #expect(places(series([(100, place), (90, 200 - place)], noise: 0.005)) == [place])
    }

    /// In a window that has both, they look like none.
    @Test(arguments: 5...20, [0.853, 0.93, 1.08, 1.2])
    func stepsThatTakeEachOtherBack(width: Int, factor: Double) {
        let levels = [(100, 5), (100 * factor, width), (100, 30 - 5 - width)]
        let found = places(series(levels, noise: 0.005, seed: UInt64(width)))
        #expect(found == [5, 5 + width])
    }

    @Test func fourStepsInThirty() {
        let levels: [(value: Double, count: Int)] = [
            (702, 5), (793, 6), (853, 6), (785, 7), (647, 6),
        ]
        for seed in 1...20 as ClosedRange<UInt64> {
            #expect(places(series(levels, noise: 0.005, seed: seed)) == [5, 11, 17, 24])
        }
    }

    @Test(arguments: 0..<40) func spikesAreNoSteps(place: Int) {
        for height in [0.5, 1.3, 3, 100] {
            for width in 1...2 {
                var values = series([(100, 40)], noise: 0.002, seed: UInt64(place))
                for index in place..<min(40, place + width) { values[index] *= height }
                #expect(places(values) == [], "\(width) of \(height) at \(place)")
            }
        }
    }

    /// A spike would widen the spread, and the step not be seen any more.
    @Test(arguments: 1...20) func spikesHideNoStep(seed: UInt64) {
        var values = series([(100, 25), (108, 25)], noise: 0.005, seed: seed)
        for index in [4, 15, 33, 44] { values[index] *= 1.4 }
        #expect(places(values) == [25])
    }

    @Test func smallStepsAreNotTold() {
        #expect(places(series([(100, 50), (102, 50)], noise: 0.001)) == [])
        #expect(places(series([(100, 50), (104, 50)], noise: 0.001)) == [50])
        let rule = ChangePointRule(magnitude: 0.01)
        #expect(places(series([(100, 50), (102, 50)], noise: 0.001), rule) == [50])
    }

    /// Of 4,000 parts without a step, the rule lets 0.1 % pass; windows and outliers add to that.
    @Test func nothingIsFoundWhereNothingIs() {
        var found = 0
        for seed in 1...400 as ClosedRange<UInt64> {
            found += places(series([(100, 100)], noise: 0.03, seed: seed)).count
        }
        #expect(found <= 4, "\(found)")
    }

    @Test(arguments: [0, 1, 2, 3, 4, 5]) func tooFewForAStep(count: Int) {
        let values = series([(100, count / 2), (200, count - count / 2)], noise: 0)
        #expect(places(values) == [])
    }

    @Test func sixAreEnough() {
        #expect(places([100, 100.1, 99.9, 150, 150.1, 149.9]) == [3])
        #expect(places([100, 100, 100, 150, 150, 150]) == [3])
    }

    @Test func equalValues() {
        #expect(places([Double](repeating: 7, count: 300)) == [])
    }

    @Test(arguments: [0, -1, .nan, .infinity] as [Double]) func absurdValues(value: Double) {
        var values = series([(100, 20), (200, 20)])
        values[7] = value
        #expect(places(values) == [])
    }

    @Test(arguments: 1...30) func anythingEnds(seed: UInt64) {
        var numbers = SeededNumbers(seed: seed)
        let count = Int.random(in: 0...300, using: &numbers)
        let values = (0..<count).map { _ in Double.random(in: 1e-9...1e12, using: &numbers) }
        let found = ChangePointSearch.changes(in: values)
        #expect(found == ChangePointSearch.changes(in: values))
        for (one, next) in zip([0] + found.map(\.index), found.map(\.index) + [count])
        where !found.isEmpty {
            #expect(next - one >= 3)
        }
    }

    /// Each by itself, against every split told by its definition.
    @Test(arguments: 1...20) func energyIsWhatItIsDefinedAs(seed: UInt64) throws {
        var numbers = SeededNumbers(seed: seed)
        let values = (0..<Int.random(in: 6...24, using: &numbers)).map { _ in
            Double.random(in: 0...10, using: &numbers)
        }
        let range = 1..<values.count
        func mean(_ one: Range<Int>, _ other: Range<Int>) -> Double {
            let all = one.flatMap { i in other.map { abs(values[i] - values[$0]) } }
            let pairs = one == other ? one.count * (one.count - 1) : one.count * other.count
            return all.reduce(0, +) / Double(pairs)
        }
        let energies = (3...values.count - 2).map { split -> (Int, Double) in
            let (left, right) = (range.lowerBound..<split, split..<range.upperBound)
            let weight =
                Double(left.count * right.count) / Double(range.count)
            return (
                split, weight * (2 * mean(left, right) - mean(left, left) - mean(right, right))
            )
        }
        let best = try #require(energies.max { $0.1 < $1.1 })
        let found = try #require(EnergySplit(values, in: range, least: 2))
        #expect(found.index == best.0)
        #expect(abs(found.energy - best.1) < 1e-9)
    }
}
