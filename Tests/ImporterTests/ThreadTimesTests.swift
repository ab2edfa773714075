import ProfileModel
import TestSupport
import Testing

@testable import Importer

struct ThreadTimesTests {
    private typealias Times = ThreadTimes<String>

    private func at(_ time: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: time) }
    private func span(_ time: Int64) -> TimeSpan { TimeSpan(nanoseconds: time) }

    /// "10-20 running 10 stack"
    private func text(_ pieces: [Times.Piece]) -> [String] {
        pieces.map { piece in
            let states = ThreadState.allCases.compactMap { state in
                piece.times[state] > .zero ? "\(state) \(piece.times[state].nanoseconds)" : nil
            }
            return "\(piece.start.nanoseconds)-\(piece.end.nanoseconds) "
                + states.joined(separator: " ") + " \(piece.stack ?? "none")"
        }
    }

    @Test func `a sample alone is the time right before it`() {
        var times = Times(start: at(0), knowsSwitches: false)
        #expect(
            text(times.sample(at: at(100), cpu: span(10), stack: "a")) == ["90-100 running 10 a"])
        // Not more than there was: the rest comes with the next sample.
        #expect(
            text(times.sample(at: at(106), cpu: span(10), stack: "b")) == ["100-106 running 6 b"])
        #expect(
            text(times.sample(at: at(150), cpu: span(10), stack: "c")) == ["136-150 running 14 c"])
        // Nothing between samples is made up.
        #expect(text(times.finish(at: at(900))).isEmpty)
    }

    /// Where perf counts for cores, what ran there before is in it.
    @Test func `a thread lives as long as its first sample stands for`() {
        var times = Times(start: at(100), knowsSwitches: false)
        #expect(
            text(times.sample(at: at(104), cpu: span(10), stack: "a")) == ["94-104 running 10 a"])
        #expect(
            text(times.sample(at: at(110), cpu: span(10), stack: "b")) == ["104-110 running 6 b"])
        var first = Times(start: at(2), knowsSwitches: false)
        #expect(text(first.sample(at: at(4), cpu: span(10), stack: "a")) == ["0-4 running 4 a"])
    }

    @Test func `between a departure and an arrival it is blocked`() {
        var times = Times(start: at(0), knowsSwitches: true)
        #expect(times.begins(at: at(10)).isEmpty)
        #expect(times.left(at: at(30), isPushed: false, stack: "wait").isEmpty)
        #expect(times.arrived(at: at(70)).isEmpty)
        #expect(
            text(times.sample(at: at(90), cpu: span(40), stack: "work")) == [
                "10-30 running 20 work", "30-70 blocked 40 wait", "70-90 running 20 work",
            ])
        // Without a sample behind it, the time has the stack with which the thread left its core.
        #expect(times.left(at: at(95), isPushed: true, stack: "parting").isEmpty)
        #expect(times.arrived(at: at(99)).isEmpty)
        #expect(
            text(times.finish(at: at(99))) == [
                "90-95 running 5 parting", "95-99 preempted 4 parting",
            ]
        )
        #expect(times.estimates == 0)
    }

    @Test func `without stacks of switches, running time waits for the next sample's`() {
        var times = Times(start: at(0), knowsSwitches: true)
        #expect(times.arrived(at: at(0)).isEmpty)
        #expect(times.left(at: at(10), isPushed: false, stack: nil).isEmpty)
        #expect(times.arrived(at: at(40)).isEmpty)
        #expect(
            text(times.sample(at: at(50), cpu: span(20), stack: "a")) == [
                "0-10 running 10 a", "10-40 blocked 30 none", "40-50 running 10 a",
            ])
    }

    @Test func `a sample explains no more than some times what it stands for`() {
        var times = Times(start: at(0), knowsSwitches: true)
        _ = times.begins(at: at(0))
        #expect(times.left(at: at(400), isPushed: false, stack: nil).isEmpty)
        _ = times.arrived(at: at(500))
        #expect(times.left(at: at(560), isPushed: false, stack: nil).isEmpty)
        _ = times.arrived(at: at(600))
        #expect(
            text(times.sample(at: at(660), cpu: span(10), stack: "a")) == [
                "0-400 running 400 none", "400-500 blocked 100 none", "500-560 running 60 a",
                "560-600 blocked 40 none", "600-660 running 60 a",
            ])
    }

    @Test func `an arrival that was not recorded follows from the CPU time`() {
        var times = Times(start: at(0), knowsSwitches: true)
        _ = times.begins(at: at(0))
        #expect(times.left(at: at(20), isPushed: false, stack: "wait").isEmpty)
        #expect(
            text(times.sample(at: at(100), cpu: span(50), stack: "work")) == [
                "0-20 running 20 work", "20-70 blocked 50 wait", "70-100 running 30 work",
            ])
        #expect(times.estimates == 1)
    }

    @Test func `several of them share the time by their lengths`() {
        var times = Times(start: at(0), knowsSwitches: true)
        _ = times.begins(at: at(0))
        _ = times.left(at: at(0), isPushed: false, stack: "first")
        _ = times.left(at: at(40), isPushed: false, stack: "second")
        #expect(
            text(times.sample(at: at(100), cpu: span(50), stack: "work")) == [
                "0-20 blocked 20 first", "20-40 running 20 work",
                "40-70 blocked 30 second", "70-100 running 30 work",
            ])
    }

    @Test(arguments: [false, true]) func `pieces never overlap, whatever is told`(switches: Bool) {
        var numbers = SeededNumbers(seed: 3)
        for _ in 0..<300 {
            var times = Times(start: at(0), knowsSwitches: switches)
            var end: Int64 = 0
            var time: Int64 = 0
            for _ in 0..<60 {
                time += Int64.random(in: -5...40, using: &numbers)
                let now = at(max(0, time))
                let pieces =
                    switch Int.random(in: 0...(switches ? 4 : 0), using: &numbers) {
                    case 0:
                        times.sample(
                            at: now, cpu: span(Int64.random(in: 0...60, using: &numbers)),
                            stack: "s")
                    case 1: times.left(at: now, isPushed: time % 2 == 0, stack: nil)
                    case 2: times.left(at: now, isPushed: time % 2 == 0, stack: "d")
                    case 3: times.arrived(at: now)
                    default: times.begins(at: now)
                    }
                for piece in pieces {
                    #expect(piece.start.nanoseconds >= end)
                    #expect(piece.times.wall > .zero)
                    for state in ThreadState.allCases { #expect(piece.times[state] >= .zero) }
                    end = piece.end.nanoseconds
                }
            }
            for piece in times.finish(at: at(max(0, time))) {
                #expect(piece.start.nanoseconds >= end)
                end = piece.end.nanoseconds
            }
        }
    }
}
