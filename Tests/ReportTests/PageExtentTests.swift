import Analysis
import MadeRecordings
import ProfileModel
import Testing

@testable import Report

/// A page has all of a short launch, and of a long one all of its time.
@Suite struct PageExtentTests {
    /// A thread that runs for 1 ms and waits for 1 ms, again and again; the first wait takes 2 ms.
    private static func launch(rounds: Int64) -> Profile {
        var builder = RecordingBuilder(images: [("/home/dev/busy", 0)])
        builder.border(.spawned, 0)
        builder.border(.firstInstruction, 0)
        builder.border(.main, 0)
        let thread = builder.thread("busy", tid: 100, isMain: true)
        let stacks = (work: builder.stack("main", "work"), rest: builder.stack("main", "rest"))
        for start in stride(from: 0, to: 2 * rounds, by: 2) {
            builder.slice(thread, at: start, running: 1, stacks.work)
            builder.slice(thread, at: start + 1, blocked: 1, stacks.rest, call: 202)
            builder.wait(
                thread, from: start + 1, to: start + 2, WaitReason(.sleep), stacks.rest)
        }
        builder.slice(thread, at: 2 * rounds, blocked: 2, stacks.rest, call: 202)
        builder.wait(
            thread, from: 2 * rounds, to: 2 * rounds + 2, WaitReason(.lock), stacks.rest)
        builder.border(.ended, 2 * rounds + 2)
        return Profile(builder.recording)
    }

    /// As many imports one after the other, each of which brings another, that of half its time.
    private static func importing(rounds: Int64) -> Profile {
        var builder = RecordingBuilder(attached: true, images: [("/usr/bin/python3", 0)])
        builder.border(.attached, 0)
        let thread = builder.thread("python3", tid: 100, isMain: true)
        func step(_ name: String) -> RecordingBuilder.Spot {
            RecordingBuilder.Spot(
                "import " + name, MadePython.runtime, file: ScriptPath.ofImports)
        }
        let main = RecordingBuilder.Spot("main")
        let none = builder.stack([main])
        let (a, b) = (
            builder.stack([main, step("a")]), builder.stack([main, step("a"), step("b")])
        )
        for start in stride(from: 0, to: 3 * rounds, by: 3) {
            builder.slice(thread, at: start, running: 1, a)
            builder.slice(thread, at: start + 1, running: 1, b)
            builder.slice(thread, at: start + 2, running: 1, none)
        }
        builder.border(.ended, 3 * rounds)
        return Profile(builder.recording)
    }

    @Test func ofManyImportsThoseThatBroughtOthersStay() {
        let few = PageExtent(Self.importing(rounds: 10))
        #expect(few.imports.count == 20)
        #expect(!few.leavesOutImports)
        let extent = PageExtent(Self.importing(rounds: 9_000))
        #expect(extent.imports.count == 10_000)
        #expect(extent.leavesOutImports)
        #expect(extent.notes.contains("this page has the 10,000 longest of 18,000 imports"))
        for (index, run) in extent.imports.enumerated() {
            guard run.name == "b" else { continue }
            #expect(run.parent == index - 1)
            #expect(run.parent.map { extent.imports[$0].name } == "a")
        }
    }

    @Test func aShortLaunchIsThereAsItIs() {
        let profile = Self.launch(rounds: 1000)
        let extent = PageExtent(profile)
        #expect(extent.notes.isEmpty)
        #expect(extent.stretches.lists.map(\.count) == [2001])
        #expect(extent.runs.lists == profile.timelines())
        #expect(extent.waits == profile.waits)
    }

    @Test func aLongOneHasAllOfItsTimeAndSaysWhatItHasNot() throws {
        let profile = Self.launch(rounds: 110_000)
        let extent = PageExtent(profile)
        let stretches = extent.stretches.lists.joined()
        #expect(stretches.count <= 60_000)
        #expect(extent.runs.lists.joined().count <= 85_000)
        let times = stretches.reduce(StateTimes.zero) { $0 + $1.times }
        #expect(times.running == .milliseconds(110_000))
        #expect(times.blocked == .milliseconds(110_002))
        // The longest is among them, though it is the last.
        #expect(extent.waits.count == 10_000)
        #expect(extent.waits.last?.reason.kind == .lock)
        #expect(zip(extent.waits, extent.waits.dropFirst()).allSatisfy { $0.start < $1.start })
        #expect(
            extent.notes == [
                "the launch is long: this page sums up what threads did in steps of 8.0 ms",
                "this page has the 10,000 longest of 110,001 waits",
            ])
        let page = String(decoding: PageData(profile).render(), as: UTF8.self)
        for note in extent.notes { #expect(page.contains(note)) }
    }
}
