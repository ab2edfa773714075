import TestSupport
import Testing

@testable import Analysis
@testable import Report

/// Scales, bins, numbers: what plots are made of.
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

    // MARK: Numbers

    @Test(arguments: [
        (0, "0 ns"), (999, "999 ns"), (999.5, "999.5 ns"), (1_000, "1.000 µs"),
        (42_314_000, "42.31 ms"), (9_999_400, "9.999 ms"), (9_999_500, "10.00 ms"),
        (99_996_000, "100.0 ms"), (999_960_000, "1.000 s"), (12_345_678_901, "12.35 s"),
        (1_234_567_890_123, "1,235 s"), (-42_314_000, "−42.31 ms"), (.nan, "unknown"),
        (1e300, "unknown"),
    ])
    func timesHaveFourDigits(value: Double, text: String) {
        #expect(Quantity.time.text(value) == text)
    }

    @Test func otherQuantities() {
        #expect(Quantity.count.text(1_234) == "1,234")
        #expect(Quantity.count.text(912.5) == "912.5")
        #expect(Quantity.bytes.text(0) == "0 B")
        #expect(Quantity.bytes.text(12_345_678) == "11.77 MiB")
        #expect(Quantity.time.range(41_900_000, 42_800_000) == "41.90 to 42.80 ms")
        #expect(Quantity.time.range(999_000, 1_000_000) == "999.0 µs to 1.000 ms")
        #expect(Quantity.count.range(905, 912) == "905 to 912")
        #expect(Quantity.time.signed(-1_500_000) == "−1.500 ms")
        #expect(Quantity.time.signed(1_500_000) == "+1.500 ms")
    }

    @Test func shares() {
        #expect(FigureNumbers.change(0.0375) == "+3.8 %")
        #expect(FigureNumbers.change(-0.000_4) == "−0.04 %")
        #expect(FigureNumbers.change(1.25) == "+125 %")
        #expect(FigureNumbers.confidence(0.95) == "95 %")
        #expect(FigureNumbers.confidence(0.97855) == "97.8 %")
        #expect(FigureNumbers.confidence(0.999_99) == "99.9 %")
        #expect(FigureNumbers.share(0.124) == "12.4 %")
        #expect(FigureNumbers.decimal(-0.001, 1) == "0.0")
        #expect(FigureNumbers.decimal(1_234.5678, 2) == "1,234.57")
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

    // MARK: Time

    @Test(arguments: [
        (0, "1970-01-01 00:00 UTC"), (-1, "1969-12-31 23:59 UTC"),
        (951_782_400_000_000_000, "2000-02-29 00:00 UTC"),
        (1_795_403_340_000_000_000, "2026-11-23 03:09 UTC"),
        (4_107_542_399_000_000_000, "2100-02-28 23:59 UTC"),
        (.max, "2262-04-11 23:47 UTC"), (.min, "1677-09-21 00:12 UTC"),
    ])
    func timesOfDay(nanoseconds: Int64, text: String) {
        #expect(UTCTime.text(nanosecondsSince1970: nanoseconds) == text)
    }
}
