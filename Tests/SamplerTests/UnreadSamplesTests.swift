import ProfileModel
import TestSupport
import Testing

@testable import ProcessIO
@testable import Sampler

/// Events that wait for several takers.
@Suite struct UnreadSamplesTests {
    private struct Event: MomentaryEvent, Hashable {
        var time: MonotonicTime
        var number: Int

        init(_ time: Int64, _ number: Int = 0) {
            self.time = MonotonicTime(nanoseconds: time)
            self.number = number
        }
    }

    /// In whatever order events come and are taken, no taker gets another one's, nothing is lost,
    /// and nothing comes twice.
    @Test(arguments: 1...100) func eachGetsItsOwn(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var untaken = UnreadSamples<Event>()
        for id in 0..<3 as Range<Int32> { untaken.follow(id) }
        var (added, taken): ([Int32: [Event]], [Int32: [Event]]) = ([:], [:])
        for number in 0..<200 {
            let id = Int32.random(in: 0..<3, using: &random)
            guard Int.random(in: 0..<4, using: &random) > 0 else {
                let limit = MonotonicTime(nanoseconds: .random(in: 0..<1000, using: &random))
                let some = untaken.take(id, upTo: limit)
                #expect(some.allSatisfy { $0.time <= limit })
                #expect(zip(some, some.dropFirst()).allSatisfy { $0.time <= $1.time })
                taken[id, default: []] += some
                let left = (added[id] ?? []).filter { $0.time > limit }.map(\.time).min()
                let notTaken = Set(added[id] ?? []).subtracting(taken[id] ?? [])
                #expect(notTaken.allSatisfy { $0.time > limit })
                if let left, notTaken.contains(where: { $0.time == left }) {
                    #expect(untaken.first(of: id, after: limit)?.time == left)
                }
                continue
            }
            let event = Event(.random(in: 0..<1000, using: &random), number)
            untaken.add(event, of: id)
            added[id, default: []].append(event)
        }
        for id in 0..<3 as Range<Int32> {
            taken[id, default: []] += untaken.take(id, upTo: nil)
            #expect(Set(taken[id] ?? []) == Set(added[id] ?? []))
            #expect(taken[id]?.count == added[id]?.count ?? 0)
        }
    }

    /// Its taker may come a moment later, and not much later.
    @Test func strays() {
        var untaken = UnreadSamples<Event>()
        untaken.add(Event(1), of: 7)
        #expect(untaken.take(7, upTo: nil).isEmpty)
        untaken.dropStrays()
        untaken.add(Event(2), of: 7)
        untaken.follow(7)
        untaken.follow(7)
        #expect(untaken.take(7, upTo: nil) == [Event(1), Event(2)])
        untaken.add(Event(3), of: 8)
        untaken.dropStrays()
        untaken.dropStrays()
        untaken.follow(8)
        #expect(untaken.take(8, upTo: nil).isEmpty)
        untaken.add(Event(4), of: 8)
        untaken.forget(8)
        untaken.follow(8)
        #expect(untaken.take(8, upTo: nil).isEmpty)
    }
}
