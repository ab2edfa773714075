import CSignpost
import Glibc
import ProfileModel
import Signpost
import Synchronization
import System
import Testing

@testable import Agent
@testable import Sampler

/// Both sides of the protocol in one process: the library writes, the recorder's side reads. Only
/// one test at a time may record it.
@Suite(.serialized) struct SignposterTests {
    private let poster = Signposter(subsystem: "org.example", category: "launch")

    private func finish(_ signposts: ProgramSignposts) -> ProgramSignposts.News {
        signposts.finish(at: .now) { $0 == OwnSignposts.thread ? ThreadIndex(0) : ThreadIndex(1) }
    }

    private func intervals(_ news: ProgramSignposts.News) -> [Interval] {
        news.results.compactMap { if case .interval(let interval) = $0 { interval } else { nil } }
    }

    @Test func unrecordedNothingHappens() {
        #expect(!poster.isEnabled)
        poster.emitEvent("nobody")
        let state = poster.beginInterval("nobody")
        poster.endInterval("nobody", state)
        #expect(state == SignpostIntervalState.beginState(id: .exclusive))
        #expect(poster.withIntervalSignpost("nobody") { 7 } == 7)
    }

    @Test func aPointSaysWhoWhenAndWhere() throws {
        try OwnSignposts.record { signposts in
            #expect(poster.isEnabled)
            let before = MonotonicTime.now
            poster.emitEvent("first star")
            let after = MonotonicTime.now
            let news = finish(signposts)
            let event = try #require(news.events.first)
            #expect(news.events.count == 1)
            #expect(event.kind == .event)
            #expect(
                event.label
                    == SignpostLabel(
                        name: "first star", category: "launch", subsystem: "org.example"))
            #expect(event.thread == OwnSignposts.thread)
            #expect(event.time >= before && event.time <= after)
        }
        #expect(!poster.isEnabled)
    }

    @Test func nestedAndOverlapping() throws {
        try OwnSignposts.record { signposts in
            let outer = poster.beginInterval("outer")
            poster.withIntervalSignpost("inner") {}
            let other = poster.beginInterval("outer")
            poster.endInterval("outer", outer)
            poster.endInterval("outer", other)
            let found = intervals(finish(signposts))
            try #require(found.map(\.name) == ["inner", "outer", "outer"])
            #expect(!found.map(\.isComplete).contains(false))
            // In the order of their ends: inner, outer, other.
            #expect(found[1].start < found[0].start)
            #expect(found[0].end < found[2].start)
            #expect(found[2].start < found[1].end)
            #expect(found[1].end < found[2].end)
        }
    }

    @Test func chosenIdentifiers() throws {
        try OwnSignposts.record { signposts in
            let id = poster.makeSignpostID()
            #expect(id != poster.makeSignpostID())
            _ = poster.beginInterval("a", id: id)
            _ = poster.beginInterval("a", id: SignpostID(7))
            poster.endInterval("a", .beginState(id: id))
            poster.endInterval("b", .beginState(id: SignpostID(7)))
            let found = intervals(finish(signposts))
            #expect(found.map(\.isComplete) == [true, false])
            #expect(signposts.counts.endsWithoutBegin == 1)
            #expect(signposts.counts.unfinished == 1)
        }
    }

    struct Mishap: Error {}

    @Test func anErrorEndsTheInterval() throws {
        try OwnSignposts.record { signposts in
            #expect(throws: Mishap.self) {
                try poster.withIntervalSignpost("fails") { throw Mishap() }
            }
            #expect(intervals(finish(signposts)).map(\.isComplete) == [true])
        }
    }

    /// The interval began without a recorder, or for another recorder.
    @Test func endsOfOtherTimes() throws {
        let early = poster.beginInterval("early")
        var former = early
        try OwnSignposts.record { _ in former = poster.beginInterval("former") }
        try OwnSignposts.record { signposts in
            _ = poster.beginInterval("former")
            poster.endInterval("early", early)
            poster.endInterval("former", former)
            #expect(intervals(finish(signposts)).map(\.isComplete) == [false])
            #expect(signposts.counts.endsWithoutBegin == 2)
        }
    }

    @Test func aDisabledSignposterIsSilent() throws {
        try OwnSignposts.record { signposts in
            #expect(!Signposter.disabled.isEnabled)
            Signposter.disabled.emitEvent("x")
            Signposter.disabled.withIntervalSignpost("x") {}
            #expect(finish(signposts).events.isEmpty)
        }
    }

    /// As in a forked child: it has the ring, too, but the ring belongs to its parent.
    @Test func anotherProcessesRingStaysEmpty() throws {
        try OwnSignposts.record(process: getpid() + 1) { signposts in
            poster.emitEvent("x")
            #expect(poster.withIntervalSignpost("y") { 1 } == 1)
            #expect(finish(signposts).events.isEmpty)
            #expect(signposts.losses == SignpostRing.Losses())
        }
    }

    @Test func namesOfAllKinds() throws {
        let long = String(repeating: "ä", count: 5000)
        let wide = Signposter(subsystem: long, category: "")
        try OwnSignposts.record { signposts in
            poster.emitEvent("")
            poster.emitEvent("é")
            wide.emitEvent("short")
            var label = firstlight_signposter(subsystem: nil, category: nil)
            long.withCString { firstlight_emit_event(&label, $0) }
            firstlight_emit_event(nil, "anonymous")
            firstlight_emit_event(&label, nil)
            let labels = finish(signposts).events.map(\.label)
            let cut = String(repeating: "ä", count: 64) + "…"
            #expect(labels.map(\.name) == ["", "é", "short", cut, "anonymous", ""])
            #expect(labels[2].subsystem == String(repeating: "ä", count: 20) + "…")
            #expect(signposts.losses.truncated == 2)
        }
    }

    @Test func errnoIsLeftAlone() throws {
        try OwnSignposts.record(events: 16) { signposts in
            errno = 4711
            for _ in 0..<40 { poster.emitEvent("x") }
            #expect(errno == 4711)
            #expect(signposts.losses == SignpostRing.Losses())
            // An eighth is for ends.
            #expect(finish(signposts).events.count == 14)
            #expect(signposts.losses.dropped == 26)
        }
    }

    @Test func endsFindRoomWhereBeginningsDoNot() throws {
        try OwnSignposts.record(events: 16) { signposts in
            let states = (0..<20).map { _ in poster.beginInterval("x") }
            poster.endInterval("x", states[0])
            poster.endInterval("x", states[13])
            let news = finish(signposts)
            #expect(intervals(news).count == 14)
            #expect(intervals(news).filter(\.isComplete).count == 2)
            #expect(signposts.losses.dropped == 6)
        }
    }

    /// Nothing is lost uncounted, nothing comes twice, no thread's events change places, and no end
    /// comes before its beginning: with rings that are always full, and one
    /// with room for everything.
    @Test(arguments: [16, 256, 1 << 17])
    func manyThreads(ringEvents: Int) throws {
        let threads = 4
        let rounds = 10_000
        try OwnSignposts.record(events: ringEvents) { signposts in
            let team = Team(count: threads, rounds: rounds)
            var events: [SignpostEvent] = []
            while !team.isDone {
                events += signposts.poll { _ in nil }.events
            }
            team.join()
            events += signposts.finish(at: .now) { _ in nil }.events
            let emitted = UInt64(threads * rounds * 2)
            let unseen = signposts.counts.endsWithoutBegin
            #expect(UInt64(events.count) + signposts.losses.dropped == emitted)
            #expect(signposts.losses.damaged == 0)
            if ringEvents > 2 * threads * rounds {
                #expect(signposts.losses.dropped == 0)
                #expect(Set(events.map(\.thread)).count == threads)
            }
            // An end whose beginning found no room is there, and belongs to none.
            #expect(unseen == events.filter { $0.kind == .end && $0.given == 0 }.count)
            for (_, ofOne) in Dictionary(grouping: events, by: \.thread) {
                let isInOrder = zip(ofOne, ofOne.dropFirst()).allSatisfy { $0.time <= $1.time }
                #expect(isInOrder)
            }
        }
    }
}

/// Threads that begin and end intervals.
private final class Team: Sendable {
    private final class Work: Sendable {
        let rounds: Int
        let left: Atomic<Int>

        init(rounds: Int, threads: Int) {
            self.rounds = rounds
            left = Atomic(threads)
        }

        func run() {
            let poster = Signposter(subsystem: "team", category: "work")
            for _ in 0..<rounds {
                let state = poster.beginInterval("round")
                poster.endInterval("round", state)
            }
            left.wrappingSubtract(1, ordering: .releasing)
        }
    }

    private let work: Work
    private let threads: [pthread_t]

    init(count: Int, rounds: Int) {
        let work = Work(rounds: rounds, threads: count)
        self.work = work
        threads = (0..<count).map { _ in
            var thread = pthread_t()
            let problem = pthread_create(
                &thread, nil,
                { argument in
                    guard let argument else { return nil }
                    Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().run()
                    return nil
                }, Unmanaged.passRetained(work).toOpaque())
            #expect(problem == 0)
            return thread
        }
    }

    var isDone: Bool { work.left.load(ordering: .acquiring) == 0 }

    func join() {
        for thread in threads { pthread_join(thread, nil) }
    }
}
