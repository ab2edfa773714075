import Symbolicate
import TestSupport
import Testing

struct IntervalMapTests {
    private typealias Interval = IntervalMap.Interval

    @Test func answersWithTheInnermostInterval() {
        let map = IntervalMap([
            Interval(start: 10, end: 100, value: 1), Interval(start: 20, end: 30, value: 2),
            Interval(start: 22, end: 30, value: 3), Interval(start: 40, end: 41, value: 4),
        ])
        let expected: [(UInt64, Int32?)] = [
            (9, nil), (10, 1), (19, 1), (20, 2), (22, 3), (29, 3), (30, 1), (40, 4), (41, 1),
            (99, 1), (100, nil),
        ]
        for (address, value) in expected { #expect(map[address] == value, "at \(address)") }
    }

    @Test func depthDecidesBetweenEqualBounds() {
        let map = IntervalMap([
            Interval(start: 0, end: 8, depth: 3, value: 30),
            Interval(start: 0, end: 8, depth: 1, value: 10),
            Interval(start: 0, end: 8, depth: 2, value: 20),
        ])
        #expect(map[7] == 30)
    }

    @Test func emptyAndReversedIntervalsCoverNothing() {
        let map = IntervalMap([
            Interval(start: 5, end: 5, value: 1), Interval(start: 9, end: 2, value: 2),
        ])
        #expect((0..<12).allSatisfy { map[$0] == nil })
        #expect(IntervalMap([])[0] == nil)
    }

    @Test func reachesTheEndOfTheAddressSpace() {
        let map = IntervalMap([Interval(start: .max - 1, end: .max, value: 7)])
        #expect(map[.max - 1] == 7)
        #expect(map[.max] == nil)
    }

    /// Against the definition, on properly nested intervals as symbols and scopes have them.
    @Test(arguments: 0..<40)
    func agreesWithALinearSearch(seed: Int) {
        var numbers = SeededNumbers(seed: UInt64(seed))
        var intervals: [Interval] = []
        nest(0..<200, depth: 0, into: &intervals, &numbers)
        let map = IntervalMap(intervals.shuffled(using: &numbers))
        for address in UInt64(0)..<210 {
            let innermost = intervals.filter { $0.start <= address && address < $0.end }
                .max { $0.depth < $1.depth }
            #expect(map[address] == innermost?.value, "at \(address)")
        }
    }

    private func nest(
        _ range: Range<UInt64>, depth: Int32, into intervals: inout [Interval],
        _ numbers: inout SeededNumbers
    ) {
        var position = range.lowerBound
        while position < range.upperBound, depth < 5 {
            let start = UInt64.random(in: position..<range.upperBound, using: &numbers)
            let end = UInt64.random(in: (start + 1)...range.upperBound, using: &numbers)
            let value = Int32(intervals.count)
            intervals.append(Interval(start: start, end: end, depth: depth, value: value))
            nest(start..<end, depth: depth + 1, into: &intervals, &numbers)
            position = end
        }
    }
}
