import TestSupport
import Testing

@testable import Analysis
@testable import Report

/// Scales and bins: what plots are made of.
@Suite struct MeasurementPlotTests {
    // MARK: Axis

    @Test func scalesHoldTheirValues() {
        var numbers = SeededNumbers(seed: 7)
        for _ in 0..<2_000 {
            let magnitude = (0..<Int.random(in: 0...18, using: &numbers))
                .reduce(1.0) { power, _ in power * 10 }
            let values = (0..<Int.random(in: 1...6, using: &numbers)).map { _ in
                Double.random(in: -1...1, using: &numbers) * magnitude
            }
            let axis = Axis(covering: values)
            for value in values {
                #expect(axis.contains(value))
                #expect(0...1 ~= axis.fraction(value))
            }
            #expect(!axis.ticks.isEmpty && axis.ticks.count <= 12, "\(values) \(axis)")
            #expect(axis.ticks == axis.ticks.sorted())
            #expect(axis.ticks.allSatisfy(axis.contains))
        }
    }

    @Test(arguments: [
        [], [0], [5e6, 5e6], [.nan], [.infinity, 1], [-1e300, 1e300], [1e19, -1e19],
        [4_503_599_627_370_497, 4_503_599_627_370_498],
    ])
    func anyValuesMakeAScale(values: [Double]) {
        let axis = Axis(covering: values)
        #expect(axis.low < axis.high)
        #expect(axis.step > 0)
        #expect(axis.ticks.count <= 51)
        for value in values + [.nan, .infinity, -.infinity] {
            #expect(0...1 ~= axis.fraction(value))
        }
    }

    @Test func ticksAreRound() {
        #expect(Axis(covering: [41e6, 45e6]).ticks == [41e6, 42e6, 43e6, 44e6, 45e6])
        #expect(Axis.round(above: 1) == 1)
        #expect(Axis.round(above: 1.01) == 2)
        #expect(Axis.round(above: 0.03) == 0.05)
        #expect(Axis.round(above: 6_000) == 10_000)
    }

    @Test func labelsHaveOneUnit() {
        func labels(_ values: [Double]) -> [String] {
            Quantity.time.labels(Axis(covering: values))
        }
        #expect(labels([41e6, 45e6]) == ["41 ms", "42 ms", "43 ms", "44 ms", "45 ms"])
        #expect(labels([0.9e9, 1.1e9]) == ["0.90 s", "0.95 s", "1.00 s", "1.05 s", "1.10 s"])
        #expect(labels([0, 2_000]) == ["0.0 µs", "0.5 µs", "1.0 µs", "1.5 µs", "2.0 µs"])
    }

    // MARK: Quartiles and bins

    @Test func quartilesInterpolate() throws {
        #expect(Quartiles(ascending: [1, 2, 3]) == nil)
        let quartiles = try #require(Quartiles(ascending: [1, 2, 3, 4]))
        #expect(quartiles.lower == 1.75)
        #expect(quartiles.upper == 3.25)
    }

    @Test func thinningKeepsTheEnds() {
        for count in 0...50 {
            for most in 2...20 {
                let kept = Quartiles.thinned(Array(0..<count), to: most)
                #expect(kept.count == min(count, most))
                #expect(kept.first == (count > 0 ? 0 : nil))
                #expect(kept.last == (count > 0 ? count - 1 : nil))
                #expect(Set(kept).count == kept.count)
            }
        }
    }

    @Test func everyValueIsInABin() {
        var numbers = SeededNumbers(seed: 3)
        for round in 0..<500 {
            let count = Int.random(in: 1...200, using: &numbers)
            // Round, equal or far apart values, too.
            let values = (0..<count).map { index -> Double in
                switch round % 4 {
                case 0: Double.random(in: 4e7...5e7, using: &numbers)
                case 1: 42e6
                case 2: index == 0 ? 9e9 : Double.random(in: 4e7...5e7, using: &numbers)
                default: Double(Int.random(in: -3...3, using: &numbers)) * 1e6
                }
            }.sorted()
            let bins = Histogram.Bins(ascending: values)
            #expect(bins.counts(values).reduce(0, +) == count)
            #expect(bins.start(of: 0) <= values[0])
            #expect(values[count - 1] <= bins.start(of: bins.count))
            #expect(bins.count <= 81)
        }
    }
}
