import ProfileModel
import TestSupport
import Testing

@testable import Analysis

@Suite struct TimeWindowsTests {
    private func span(_ nanoseconds: Int64) -> TimeSpan { TimeSpan(nanoseconds: nanoseconds) }

    @Test func overlappingAndTouchingOnesAreJoined() {
        let ranges = [(5, 9), (20, 20), (9, 12), (1, 2), (6, 7)].map { span($0)..<span($1) }
        let windows = TimeWindows(ranges)
        #expect(windows.ranges == [span(1)..<span(2), span(5)..<span(12)])
        #expect(windows.length == span(8))
        #expect(TimeWindows([]).length == .zero)
    }

    @Test(arguments: 1...50 as ClosedRange<UInt64>)
    func agreesWithCounting(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        func range() -> Range<Int64> {
            let start = Int64.random(in: 0...60, using: &random)
            return start..<start + Int64.random(in: 0...15, using: &random)
        }
        let ranges = (0..<Int.random(in: 0...8, using: &random)).map { _ in range() }
        let windows = TimeWindows(ranges.map { span($0.lowerBound)..<span($0.upperBound) })
        let inside = (0..<80 as Range<Int64>).filter { time in ranges.contains { $0 ~= time } }
        #expect(windows.length == span(Int64(inside.count)))
        for (range, next) in zip(windows.ranges, windows.ranges.dropFirst()) {
            #expect(range.upperBound < next.lowerBound)
        }
        let part = range()
        #expect(
            windows.length(within: span(part.lowerBound)..<span(part.upperBound))
                == span(Int64(inside.filter { part ~= $0 }.count)))
        for time in 0..<80 as Range<Int64> {
            let expected =
                windows.ranges.firstIndex { $0.upperBound > span(time) } ?? windows.ranges.count
            #expect(windows.first(endingAfter: span(time)) == expected)
        }
    }
}
