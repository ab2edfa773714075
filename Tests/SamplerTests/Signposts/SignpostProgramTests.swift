import Glibc
import ProfileModel
import Testing

@testable import Agent
@testable import Sampler

/// Programs with signposts, seen from outside.
@Suite(.enabled(if: SignpostProgram.hasCompiler, "needs gcc and g++"))
struct SignpostProgramTests {
    @Test func nestedOnTwoThreads() throws {
        let program = try SignpostProgram("signposts.c")
        program.run()
        #expect(program.child.end() == 0)
        let truth = program.truth
        let intervals = program.intervals
        #expect(
            Set(intervals.map(\.name)) == [
                "Hand over", "Load", "Parse", "Index", "Draw", "Fetch", "Decode",
            ])
        for interval in intervals {
            let measured = try #require(truth[interval.name])
            // The program's own figure encloses the interval: how narrowly depends on the machine.
            #expect((interval.end - interval.start).nanoseconds <= measured)
            #expect(interval.isComplete)
            #expect(interval.subsystem == "org.firstlight.fixture")
            let isOfWorker = ["Fetch", "Decode"].contains(interval.name)
            #expect(interval.thread == ThreadIndex(isOfWorker ? 1 : 0))
            let isOfLaunch = ["Load", "Draw"].contains(interval.name)
            #expect(interval.category == (isOfLaunch ? "launch" : "detail"))
        }
        func isWithin(_ inner: String, _ outer: String) -> Bool {
            guard let inner = intervals.first(where: { $0.name == inner }),
                let outer = intervals.first(where: { $0.name == outer })
            else { return false }
            return inner.start >= outer.start && inner.end <= outer.end
        }
        #expect(isWithin("Parse", "Load") && isWithin("Index", "Load"))
        #expect(isWithin("Decode", "Fetch") && isWithin("Fetch", "Hand over"))
        #expect(!isWithin("Draw", "Load"))
        #expect(program.events.filter { $0.kind == .event }.map(\.label.name) == ["First star"])
    }

    @Test func oddOnes() throws {
        let program = try SignpostProgram("signposts.c", ["odd"])
        program.run()
        #expect(program.child.end() == 0)
        let found = program.intervals
        #expect(found.filter(\.isComplete).map(\.name) == ["Ended twice", "Own"])
        #expect(found.filter { !$0.isComplete }.map(\.name) == ["Never ended", "Own"])
        let points = program.events.filter { $0.kind == .event }.map(\.label.name)
        #expect(points == [String(repeating: "n", count: 128) + "…", "", ""])
        #expect(program.signposts.counts.endsWithoutBegin == 3)
        #expect(program.signposts.counts.unfinished == 2)
        #expect(program.signposts.losses == SignpostRing.Losses(truncated: 1))
    }

    @Test func scopesOfCPlusPlus() throws {
        let program = try SignpostProgram("scopes.cpp")
        program.run()
        #expect(program.child.end() == 0)
        #expect(
            program.intervals.map(\.name) == [
                "scope", "return", "exception", "moved", "task", "return", "other task", "state",
                "identifier",
            ])
        #expect(program.intervals.allSatisfy { $0.isComplete })
        // In a scope, and behind one that was ended early.
        let names = program.events.map { "\($0.kind) \($0.label.name)" }
        #expect(names.prefix(3) == ["begin scope", "event within", "end scope"])
        let moved = try #require(names.firstIndex(of: "end moved"))
        #expect(names[moved + 1] == "event behind")
    }

    /// A million events as fast as they go: each is there, or was counted.
    @Test(arguments: [64, 1 << 15])
    func aMillion(ringEvents: Int) throws {
        let program = try SignpostProgram(
            "signposts.c", ["many", "500000"], events: ringEvents)
        program.run()
        #expect(program.child.end() == 0)
        let losses = program.signposts.losses
        #expect(UInt64(program.events.count) + losses.dropped == 1_000_000)
        #expect(losses.damaged == 0)
        let kept = UInt64(program.results.count) + program.signposts.counts.unkept
        #expect(kept == UInt64(program.events.count))
        #expect(program.results.count <= SignpostPairing.limit)
    }

    /// They inherit the ring and the switch, but their events do not count as their parent's.
    @Test func forkedChildrenAreNotTheirParent() throws {
        let program = try SignpostProgram("signposts.c", ["forked"])
        program.run()
        #expect(program.child.end() == 0)
        #expect(program.events.map(\.label.name) == ["Parent", "Parent again"])
        #expect(Set(program.events.map(\.thread)) == [program.child.pid])
        #expect(program.signposts.losses == SignpostRing.Losses())
    }

    /// A handler interrupts the writing of an event anywhere, and writes one of its own.
    @Test func signalHandlers() throws {
        let program = try SignpostProgram("signposts.c", ["handler", "2000"])
        program.run()
        #expect(program.child.end() == 0)
        let points = UInt64(try #require(program.truth["points"]))
        let handled = UInt64(try #require(program.truth["handled"]))
        #expect(handled == 2000)
        let losses = program.signposts.losses
        #expect(UInt64(program.events.count) + losses.dropped == points + 2 * handled)
        #expect(losses.damaged == 0)
        // Nothing of the one event ever came into the other.
        #expect(Set(program.events.map(\.label.name)) == ["Point", "Handler"])
        let mixed = program.events.filter { ($0.label.name == "Point") != ($0.kind == .event) }
        #expect(mixed.isEmpty)
    }

    /// The program ends in the midst of it, as the one side or the other may at any time.
    @Test func killedInTheMidst() throws {
        for _ in 0..<5 {
            let program = try SignpostProgram("signposts.c", ["endless"])
            program.send()
            #expect(
                eventually {
                    program.poll()
                    return program.events.count > 10_000
                })
            kill(program.child.pid, SIGKILL)
            #expect(program.child.end() == SIGKILL)
            program.finish()
            #expect(program.signposts.losses.damaged == 0)
        }
    }

    /// The reader is gone: the program drops its events and goes on.
    @Test func withoutAReaderItGoesOn() throws {
        let program = try SignpostProgram("signposts.c", ["endless"], events: 64)
        program.send()
        // It has filled the ring, and still answers.
        for count in 1...100 {
            program.send()
            #expect(
                eventually { program.output.hasSuffix(String(repeating: "\u{7}", count: count)) })
        }
        program.finish()
        #expect(program.events.count == 56)
        #expect(program.signposts.losses.dropped > 0)
    }
}
