import ProfileModel
import TestSupport
import Testing

@testable import Agent
@testable import Sampler

@Suite struct SignpostPairingTests {
    private static let thread = ThreadIndex(0)

    private func event(
        _ kind: SignpostEvent.Kind, _ identity: SignpostEvent.Identity, _ time: Int64,
        name: String = "a"
    ) -> SignpostEvent {
        SignpostEvent(
            kind: kind, identity: identity,
            label: SignpostLabel(name: name, category: "c", subsystem: "s"), thread: 1,
            time: MonotonicTime(nanoseconds: time))
    }

    private func interval(
        _ start: Int64, _ end: Int64, name: String = "a", thread: ThreadIndex? = Self.thread,
        isComplete: Bool = true
    ) -> SignpostPairing.Result {
        .interval(
            Interval(
                name: name, category: "c", subsystem: "s", thread: thread,
                start: MonotonicTime(nanoseconds: start), end: MonotonicTime(nanoseconds: end),
                isComplete: isComplete))
    }

    @Test func pointsAndIntervals() {
        var pairing = SignpostPairing()
        #expect(
            pairing.add(event(.event, .given(0), 5), thread: nil)
                == .signpost(
                    Signpost(
                        name: "a", category: "c", subsystem: "s", thread: nil,
                        time: MonotonicTime(nanoseconds: 5))))
        #expect(pairing.add(event(.begin, .given(1), 6), thread: Self.thread) == nil)
        // Ended by another thread: it is the first one's.
        #expect(pairing.add(event(.end, .given(1), 9), thread: ThreadIndex(1)) == interval(6, 9))
        #expect(pairing.counts == SignpostPairing.Counts())
    }

    @Test func overlappingIntervalsOfOneName() {
        var pairing = SignpostPairing()
        _ = pairing.add(event(.begin, .given(1), 1), thread: Self.thread)
        _ = pairing.add(event(.begin, .given(2), 2), thread: Self.thread)
        #expect(pairing.add(event(.end, .given(1), 3), thread: nil) == interval(1, 3))
        #expect(pairing.add(event(.end, .given(2), 4), thread: nil) == interval(2, 4))
    }

    /// The program's own identifiers: by name, the last one first.
    @Test func chosenIdentifiers() {
        var pairing = SignpostPairing()
        _ = pairing.add(event(.begin, .chosen(7), 1), thread: Self.thread)
        _ = pairing.add(event(.begin, .chosen(7), 2), thread: Self.thread)
        _ = pairing.add(event(.begin, .chosen(7), 3, name: "b"), thread: Self.thread)
        // Chosen and given ones are different, however alike.
        #expect(pairing.add(event(.end, .given(7), 4), thread: nil) == nil)
        #expect(pairing.counts.endsWithoutBegin == 1)
        #expect(pairing.add(event(.end, .chosen(7), 5), thread: nil) == interval(2, 5))
        #expect(pairing.add(event(.end, .chosen(7), 6), thread: nil) == interval(1, 6))
        #expect(
            pairing.add(event(.end, .chosen(7), 7, name: "b"), thread: nil)
                == interval(3, 7, name: "b"))
        #expect(pairing.add(event(.end, .chosen(7), 8), thread: nil) == nil)
        #expect(pairing.counts.endsWithoutBegin == 2)
    }

    /// Clocks of two cores may differ by less than nothing; lengths are never negative.
    @Test func anEndBeforeItsBegin() {
        var pairing = SignpostPairing()
        _ = pairing.add(event(.begin, .given(1), 9), thread: Self.thread)
        #expect(pairing.add(event(.end, .given(1), 8), thread: nil) == interval(9, 9))
        _ = pairing.add(event(.begin, .given(2), 9), thread: Self.thread)
        #expect(
            pairing.finish(at: MonotonicTime(nanoseconds: 3)) == [
                interval(9, 9, isComplete: false)
            ])
    }

    @Test func intervalsWithoutAnEnd() {
        var pairing = SignpostPairing()
        _ = pairing.add(event(.begin, .chosen(1), 4, name: "b"), thread: nil)
        _ = pairing.add(event(.begin, .given(2), 2), thread: Self.thread)
        _ = pairing.add(event(.begin, .chosen(1), 3, name: "b"), thread: Self.thread)
        #expect(
            pairing.finish(at: MonotonicTime(nanoseconds: 10)) == [
                interval(2, 10, isComplete: false), interval(3, 10, name: "b", isComplete: false),
                interval(4, 10, name: "b", thread: nil, isComplete: false),
            ])
        #expect(pairing.counts.unfinished == 3)
        #expect(pairing.finish(at: MonotonicTime(nanoseconds: 11)).isEmpty)
    }

    @Test func limitsAreKept() {
        var pairing = SignpostPairing(limit: 4, openLimit: 2)
        for id in 1...3 { _ = pairing.add(event(.begin, .given(UInt64(id)), 1), thread: nil) }
        #expect(pairing.counts.unkept == 1)
        #expect(pairing.add(event(.end, .given(3), 2), thread: nil) == nil)
        #expect(pairing.counts.endsWithoutBegin == 1)
        for _ in 0..<5 { _ = pairing.add(event(.event, .given(0), 2), thread: nil) }
        #expect(pairing.counts.unkept == 2)
        // None of the two that are open is kept now, but both are counted.
        #expect(pairing.finish(at: MonotonicTime(nanoseconds: 3)).isEmpty)
        #expect(pairing.counts.unkept == 4)
        #expect(pairing.counts.unfinished == 2)
    }

    /// Against the plainest model: a list of open intervals, searched from its end.
    @Test(arguments: 0..<30)
    func likeAPlainList(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var pairing = SignpostPairing()
        var open: [SignpostEvent] = []
        var lost: UInt64 = 0
        for time in 1...500 {
            let id = UInt64.random(in: 0..<6, using: &random)
            let name = ["a", "b"].randomElement(using: &random) ?? ""
            let kind: SignpostEvent.Kind = Bool.random(using: &random) ? .begin : .end
            let event = event(
                kind, Bool.random(using: &random) ? .given(id) : .chosen(id), Int64(time),
                name: name)
            let result = pairing.add(event, thread: Self.thread)
            if kind == .begin {
                // Given ones are unique; a second one takes the first one's place.
                if case .given = event.identity {
                    open.removeAll { $0.identity == event.identity }
                }
                open.append(event)
                #expect(result == nil)
                continue
            }
            let match = open.lastIndex { other in
                guard other.identity == event.identity else { return false }
                if case .given = event.identity { return true }
                return other.label == event.label
            }
            if let match {
                let begun = open.remove(at: match)
                #expect(
                    result
                        == interval(begun.time.nanoseconds, Int64(time), name: begun.label.name))
            } else {
                lost += 1
                #expect(result == nil)
            }
        }
        #expect(pairing.counts.endsWithoutBegin == lost)
        #expect(pairing.finish(at: MonotonicTime(nanoseconds: 501)).count == open.count)
    }
}
