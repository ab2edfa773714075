import ProfileModel
import Testing

@testable import Analysis

@Suite struct LaunchHistogramTests {
    /// As closely as documented.
    @Test func boundsAscend() {
        let (close, far) = (TimeSpan.milliseconds(1), TimeSpan.milliseconds(10_000))
        for (low, high) in zip(LaunchHistogram.bounds, LaunchHistogram.bounds.dropFirst()) {
            #expect(low < high)
            if low >= close, high <= far { #expect(high.nanoseconds <= 2 * low.nanoseconds) }
        }
    }

    /// A time equal to a bound belongs below it.
    @Test func everyTimeHasOneBucket() {
        for (index, bound) in LaunchHistogram.bounds.enumerated() {
            for (span, bucket) in [
                (bound, index), (bound - TimeSpan(nanoseconds: 1), index),
                (bound + TimeSpan(nanoseconds: 1), index + 1),
            ] {
                var histogram = LaunchHistogram()
                histogram.add(span)
                #expect(histogram.counts.firstIndex(of: 1) == bucket)
                #expect(histogram.count == 1 && histogram.sum == span)
            }
        }
    }

    @Test func halvesAddUpToTheWhole() {
        var random = SeededGenerator(seed: 5)
        var (whole, halves) = (LaunchHistogram(), [LaunchHistogram(), LaunchHistogram()])
        for index in 0..<1000 {
            let span = TimeSpan(nanoseconds: Int64.random(in: 0...200_000_000_000, using: &random))
            whole.add(span)
            halves[index % 2].add(span)
        }
        #expect(zip(halves[0].counts, halves[1].counts).map { $0 + $1 } == whole.counts)
        #expect(halves[0].sum + halves[1].sum == whole.sum && whole.count == 1000)
    }
}
