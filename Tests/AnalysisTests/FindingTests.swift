import MadeRecordings
import ProfileModel
import Testing

@testable import Analysis

/// A launch in which nothing stands out, to put one thing into. Relocated at 10 ms, `main` at
/// 100 ms, over at 1000 ms: so 20 ms are the least that counts.
struct FindingLaunch {
    typealias Spot = RecordingBuilder.Spot

    static let libc = "/usr/lib/libc.so.6"
    static let library = "/home/dev/libslow.so"
    static let entry = [
        Spot("_start"), Spot("__libc_start_main", libc),
        Spot("main", file: "/src/main.c", line: 3),
    ]

    var builder = RecordingBuilder(images: [("/home/dev/app", 2)])
    let main: ThreadIndex

    init(attached: Bool = false) {
        if attached { builder = RecordingBuilder(attached: true, images: [("/home/dev/app", 0)]) }
        builder.border(attached ? .attached : .spawned, 0)
        if !attached {
            builder.border(.firstInstruction, 2)
            builder.border(.relocated, 10)
            builder.border(.main, 100)
        }
        builder.border(.ended, 1000)
        main = builder.thread("app", tid: 7, to: 1000, isMain: true)
        builder.recording.header.outcome = .exited(0)
    }

    /// The main thread computes for a while in each of twenty functions.
    mutating func computeABit() {
        for index in 0..<20 as Range<Int64> {
            compute(main, "part\(index)", from: 200 + 30 * index, to: 220 + 30 * index)
        }
    }

    mutating func run(
        _ thread: ThreadIndex, at start: Int64, running: Int64 = 0, runnable: Int64 = 0,
        preempted: Int64 = 0, in spots: [Spot]
    ) {
        let stack = builder.stack(spots)
        builder.slice(
            thread, at: start, running: running, runnable: runnable, preempted: preempted, stack)
    }

    mutating func compute(
        _ thread: ThreadIndex, _ function: String, from start: Int64, to end: Int64
    ) {
        let stack = builder.stack(Self.entry + [Spot(function, file: "/src/work.c", line: 8)])
        for time in start..<end { builder.slice(thread, at: time, running: 1, stack) }
    }

    /// A wait with its slices, called from a function of the program's.
    mutating func wait(
        _ reason: WaitReason, by thread: ThreadIndex? = nil, from start: Int64, to end: Int64,
        in function: String = "load", call: Int32 = 202
    ) {
        let stack = builder.stack(
            Self.entry + [Spot(function, file: "/src/load.c", line: 21), Spot("wait", Self.libc)])
        let thread = thread ?? main
        builder.slice(thread, at: start, blocked: end - start, stack, call: call)
        builder.recording.waits.append(
            Wait(
                thread: thread, start: RecordingBuilder.at(start), end: RecordingBuilder.at(end),
                reason: reason, systemCall: call, stack: stack))
    }

    mutating func worker(_ name: String = "worker", tid: Int32 = 8) -> ThreadIndex {
        builder.thread(name, tid: tid, from: 150, to: 1000)
    }

    mutating func priority(_ thread: ThreadIndex, policy: Int32 = 0, nice: Int32, rt: Int32 = 0) {
        builder.recording.priorities.append(
            Priority(
                thread: thread, time: RecordingBuilder.at(150), policy: policy, nice: nice,
                realTime: rt))
    }

    mutating func load(
        _ path: String = library, at start: Int64, wall: Int64? = nil, caller: [Spot] = []
    ) {
        _ = builder.module(path)
        let stack = caller.isEmpty ? nil : builder.stack(caller)
        builder.recording.libraries.append(
            LibraryLoad(
                path: path, start: RecordingBuilder.at(start),
                wall: wall.map(TimeSpan.milliseconds), size: 4096, caller: stack,
                isInitial: wall == nil))
    }

    var profile: Profile { Profile(builder.recording) }
    var findings: [Finding] { profile.findings() }
}

extension Profile {
    func name(of finding: Finding) -> String { frames.function(of: finding.place).name }
}

@Suite struct FindingTests {
    @Test func aCleanProgramHasNone() {
        var launch = FindingLaunch()
        launch.computeABit()
        #expect(launch.findings.isEmpty)
        #expect(FindingLaunch().findings.isEmpty)
        #expect(launch.profile.measurementNotes().isEmpty)
    }

    @Test func withoutAMainThreadOrALengthNothingIsFound() {
        let builder = RecordingBuilder()
        #expect(Profile(builder.recording).findings().isEmpty)
    }

    @Test func shortTimesAreNoReason() {
        // 2 % of the launch.
        for (length, isFound) in [(19, false), (20, true)] as [(Int64, Bool)] {
            var launch = FindingLaunch()
            launch.wait(WaitReason(.sleep), from: 200, to: 200 + length)
            #expect(launch.findings.isEmpty != isFound)
        }
        // 5 ms, where the launch is short.
        for (length, isFound) in [(4, false), (5, true)] as [(Int64, Bool)] {
            var launch = FindingLaunch()
            launch.wait(WaitReason(.sleep), from: 110, to: 110 + length)
            launch.builder.ready("notify", at: 120)
            #expect(launch.findings.isEmpty != isFound)
        }
    }

    @Test func timeAfterReadinessDoesNotCount() {
        var launch = FindingLaunch()
        launch.wait(WaitReason(.sleep), from: 300, to: 400)
        launch.builder.ready("notify", at: 250)
        #expect(launch.findings.isEmpty)
        launch.builder.recording.ready?.time = RecordingBuilder.at(330)
        #expect(launch.findings.map(\.saving) == [.milliseconds(30)])
    }

    @Test func mostAtStakeIsFirstAndTenAreEnough() {
        var launch = FindingLaunch()
        for index in 0..<12 as Range<Int64> {
            launch.wait(
                WaitReason(.sleep), from: 200 + 50 * index, to: 220 + 50 * index + index,
                in: "load\(index)")
        }
        let findings = launch.findings
        #expect(findings.count == FindingSearch.most)
        #expect(findings.map(\.saving) == (22...31).reversed().map { .milliseconds($0) })
        #expect(findings.first.map(launch.profile.name) == "load11")
    }

    @Test func manyWaitsAtOnePlaceAreOne() throws {
        var launch = FindingLaunch()
        for index in 0..<6 as Range<Int64> {
            launch.wait(
                WaitReason(.file, detail: "/data/\(index / 2)"), from: 200 + 20 * index,
                to: 205 + 20 * index, call: 0)
        }
        let finding = try #require(launch.findings.first)
        #expect(launch.findings.count == 1)
        #expect(finding.kind == .fileWait && finding.saving == .milliseconds(30))
        #expect(finding.range == .milliseconds(200)..<(.milliseconds(305)))
        #expect(launch.profile.name(of: finding) == "load")
        #expect(launch.profile.phase(of: finding).map { launch.profile.phases[$0].name } == "Main")
        guard case .wait(let evidence) = finding.subject else {
            Issue.record("\(finding.subject)")
            return
        }
        #expect(evidence.count == 6 && evidence.things == ["/data/0", "/data/1", "/data/2"])
    }

    @Test func timeIsSubtractedExactly() {
        func windows(_ ranges: [(Int64, Int64)]) -> TimeWindows {
            TimeWindows(
                ranges.map { TimeSpan(nanoseconds: $0.0)..<TimeSpan(nanoseconds: $0.1) })
        }
        let whole = windows([(0, 10), (20, 30), (40, 50)])
        #expect(whole.subtracting(windows([])) == whole)
        #expect(windows([]).subtracting(whole) == windows([]))
        #expect(whole.subtracting(windows([(0, 50)])) == windows([]))
        #expect(
            whole.subtracting(windows([(2, 4), (6, 25), (45, 60)]))
                == windows([(0, 2), (4, 6), (25, 30), (40, 45)]))
        #expect(whole.subtracting(windows([(10, 20), (30, 40)])) == whole)
    }
}
