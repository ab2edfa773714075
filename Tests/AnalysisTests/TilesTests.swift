import ProfileModel
import TestSupport
import Testing

@testable import Analysis

/// Pictures of long launches carry fewer entries, and the same time.
@Suite struct TilesTests {
    private static let states = ThreadState.allCases

    /// One after the other, without gaps.
    private static func list(_ count: Int, _ generator: inout some RandomNumberGenerator)
        -> [StateRun]
    {
        var start = TimeSpan.zero
        return (0..<count).map { _ in
            let isLong = Int.random(in: 0...200, using: &generator) == 0
            let length = TimeSpan(
                nanoseconds: .random(in: 1...(isLong ? 90_000_000 : 3_000_000), using: &generator))
            defer { start = start + length }
            return StateRun(
                start: start, length: length,
                state: states[Int.random(in: 0..<states.count, using: &generator)])
        }
    }

    private static func sums(_ list: [StateRun]) -> [ThreadState: TimeSpan] {
        list.reduce(into: [:]) { sums, run in
            sums[run.state] = (sums[run.state] ?? .zero) + run.length
        }
    }

    @Test func fewEntriesStayAsTheyAre() {
        var generator = SeededNumbers(seed: 1)
        let list = Self.list(100, &generator)
        let tiles = Tiles([list, []], most: 100)
        #expect(tiles.lists == [list, []])
        #expect(tiles.width == .zero)
    }

    @Test(arguments: seeds(6))
    func manyAreFewerWithTheSameSumsInOrder(seed: UInt64) {
        var generator = SeededNumbers(seed: seed)
        let lists = (0..<4).map { Self.list(5000 * ($0 + 1), &generator) }
        let tiles = Tiles(lists, most: 12_000)
        #expect(tiles.lists.reduce(0) { $0 + $1.count } <= 12_000)
        #expect(tiles.width > .zero)
        for (list, tiled) in zip(lists, tiles.lists) {
            #expect(Self.sums(list) == Self.sums(tiled))
            #expect(list.first?.start == tiled.first?.start && list.last?.end == tiled.last?.end)
            // Without gaps it was, and is.
            #expect(zip(tiled, tiled.dropFirst()).allSatisfy { $0.end == $1.start })
        }
    }

    @Test(arguments: seeds(6))
    func eventsMoveByATileAtMost(seed: UInt64) {
        var generator = SeededNumbers(seed: seed)
        let list = Self.list(2000, &generator)
        let tiles = Tiles([list], most: 300)
        for border in stride(from: Int64(0), to: list.last?.end.nanoseconds ?? 0, by: 7_000_000) {
            func running(_ list: [StateRun]) -> Int64 {
                list.filter { $0.state == .running }.reduce(0) {
                    let until = min($1.end.nanoseconds, border)
                    return $0 + max(0, until - $1.start.nanoseconds)
                }
            }
            // Each width before, half as wide, may have moved it, too.
            #expect(
                abs(running(list) - running(tiles.lists[0])) <= 2 * tiles.width.nanoseconds)
        }
    }

    /// Where tiles would have to be as wide as the launch, there are more entries instead.
    @Test func manyKindsKeepTheirPlaces() {
        let list = (0..<5000).map { index in
            Stretch(
                phase: 0, thread: 0, start: .milliseconds(Int64(index)),
                times: StateTimes(running: .milliseconds(1)), stack: index, waitStack: nil)
        }
        let tiles = Tiles([list], most: 100)
        #expect(tiles.lists[0].map(\.stack) == Array(0..<5000))
        #expect(tiles.width <= .milliseconds(10))
    }

    @Test func aLongWaitKeepsItsPlace() {
        let long = StateRun(
            start: .milliseconds(10), length: .milliseconds(9000), state: .blocked)
        let short = (0..<10).map {
            StateRun(
                start: .milliseconds(Int64($0)), length: .milliseconds(1),
                state: $0 % 2 == 0 ? .running : .runnable)
        }
        let tiles = Tiles([short + [long]], most: 3)
        #expect(tiles.lists[0].contains(long))
        #expect(tiles.lists[0].count == 3)
    }

    @Test func stacksAndPhasesStayApart() {
        func stretch(_ start: Int64, phase: Int, stack: Int, wait: Int? = nil) -> Stretch {
            Stretch(
                phase: phase, thread: 0, start: TimeSpan(nanoseconds: start),
                times: StateTimes(running: TimeSpan(nanoseconds: 10)), stack: stack,
                waitStack: wait)
        }
        let list = [
            stretch(0, phase: 0, stack: 1), stretch(10, phase: 0, stack: 2),
            stretch(20, phase: 0, stack: 1), stretch(30, phase: 1, stack: 1),
            stretch(40, phase: 1, stack: 1, wait: 3), stretch(50, phase: 1, stack: 1),
            stretch(1_000_000_000, phase: 1, stack: 9),
        ]
        let tiled = Tiles([list], most: 1).lists[0].dropLast()
        #expect(tiled.map(\.phase) == [0, 0, 1, 1])
        #expect(tiled.map(\.stack) == [1, 2, 1, 1])
        #expect(tiled.map(\.waitStack) == [nil, nil, nil, 3])
        #expect(tiled.map(\.times.running.nanoseconds) == [20, 10, 20, 10])
        #expect(tiled.map(\.start.nanoseconds) == [0, 20, 30, 50])
    }
}
