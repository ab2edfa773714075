import Analysis
import MadeRecordings
import ProfileModel
import TestSupport
import Testing

@Suite struct PhaseTests {
    private func names(_ builder: RecordingBuilder) -> [String] {
        describe(Profile(builder.recording))
    }

    /// "NAME START+WALL" in milliseconds.
    private func describe(_ profile: Profile) -> [String] {
        profile.phases.map {
            "\($0.name) \($0.start.nanoseconds / 1_000_000)+\($0.wall.nanoseconds / 1_000_000)"
        }
    }

    @Test func dynamicProgramHasAllFour() {
        var builder = RecordingBuilder(images: [("/home/dev/app", 2)])
        builder.border(.spawned, 0)
        builder.border(.firstInstruction, 2)
        builder.border(.relocated, 5)
        builder.border(.main, 9)
        builder.border(.ended, 20)
        let profile = Profile(builder.recording)
        #expect(
            describe(profile) == [
                "Process creation 0+2", "Dynamic linking 2+3", "Static initialisers 5+4",
                "Main 9+11",
            ])
        #expect(
            profile.phases.map(\.group) == [.beforeMain, .beforeMain, .beforeMain, .afterMain])
        #expect(profile.launch.wall == .milliseconds(20))
    }

    @Test func staticProgramHasNoDynamicLinking() {
        var builder = RecordingBuilder(images: [("/home/dev/app", 2)])
        builder.border(.spawned, 0)
        builder.border(.firstInstruction, 2)
        builder.border(.main, 3)
        builder.border(.ended, 4)
        #expect(
            names(builder) == ["Process creation 0+2", "Static initialisers 2+1", "Main 3+1"])
    }

    @Test func phaseWithoutLengthIsLeftOut() {
        var builder = RecordingBuilder(images: [("/home/dev/app", 2)])
        builder.border(.spawned, 0)
        builder.border(.firstInstruction, 2)
        builder.border(.main, 2)
        builder.border(.ended, 4)
        #expect(names(builder) == ["Process creation 0+2", "Main 2+2"])
    }

    @Test func wrappersArePhasesOfTheirOwn() {
        var builder = RecordingBuilder(images: [
            ("/bin/sh", 1), ("/usr/bin/env", 4), ("/usr/bin/python3", 6),
        ])
        builder.border(.spawned, 0)
        builder.border(.firstInstruction, 1)
        // The shell's own borders: it is a wrapper as a whole.
        builder.border(.relocated, 2)
        builder.border(.main, 3)
        builder.border(.firstInstruction, 4)
        builder.border(.firstInstruction, 6)
        builder.border(.relocated, 8)
        builder.border(.main, 9)
        builder.border(.ended, 30)
        let profile = Profile(builder.recording)
        #expect(
            describe(profile) == [
                "Process creation 0+1", "Wrapper: sh 1+3", "Wrapper: env 4+2",
                "Dynamic linking 6+2", "Static initialisers 8+1", "Main 9+21",
            ])
        #expect(profile.phases[1].group == .beforeMain)
        #expect(profile.program.path == "/usr/bin/python3")
        #expect(profile.program.arguments == ["/usr/bin/python3"])
    }

    /// The wrapper's linker says nothing of a static program that follows.
    @Test func aStaticProgramBehindADynamicWrapper() {
        var builder = RecordingBuilder(images: [("/bin/sh", 1), ("/home/dev/app", 4)])
        let linker = builder.module("/lib64/ld-linux-x86-64.so.2")
        builder.recording.mappings = [
            Mapping(
                start: 4096, end: 8192, bias: 4096, module: linker,
                time: builder.recording.images[0].time)
        ]
        builder.border(.spawned, 0)
        builder.border(.firstInstruction, 1)
        builder.border(.firstInstruction, 4)
        builder.border(.main, 5)
        builder.border(.ended, 9)
        let start = ["Process creation 0+1", "Wrapper: sh 1+3"]
        #expect(names(builder) == start + ["Static initialisers 4+1", "Main 5+4"])
        builder.recording.mappings[0].time = builder.recording.images[1].time
        #expect(names(builder) == start + ["Before main 4+1", "Main 5+4"])
    }

    @Test func programThatDiesEarlyKeepsThePhaseInProgress() {
        var builder = RecordingBuilder(images: [("/home/dev/app", 2)])
        builder.border(.spawned, 0)
        builder.border(.firstInstruction, 2)
        builder.border(.watched, 2)
        builder.border(.ended, 10)
        #expect(names(builder) == ["Process creation 0+2", "Static initialisers 2+8"])

        // With a dynamic linker mapped, it had not come to its initialisers.
        _ = builder.module("/lib64/ld-linux-x86-64.so.2")
        #expect(names(builder) == ["Process creation 0+2", "Dynamic linking 2+8"])

        builder.border(.relocated, 6)
        #expect(
            names(builder) == ["Process creation 0+2", "Dynamic linking 2+4", "Not divided 6+4"])
        builder.border(.watched, 6)
        #expect(
            names(builder)
                == ["Process creation 0+2", "Dynamic linking 2+4", "Static initialisers 6+4"])
    }

    /// How far the launch of an image is that ran already when it was noticed, nothing tells.
    @Test func anImageThatWasNoticedLateIsNotDivided() {
        var builder = RecordingBuilder(images: [("/bin/sh", 1), ("/home/dev/app", 4)])
        builder.border(.spawned, 0)
        builder.border(.firstInstruction, 1)
        builder.border(.relocated, 2)
        builder.border(.main, 3)
        builder.border(.attached, 4)
        builder.border(.watched, 5)
        builder.border(.ended, 20)
        let start = ["Process creation 0+1", "Wrapper: sh 1+3"]
        #expect(names(builder) == start + ["Not divided 4+16"])
        builder.border(.relocated, 6)
        builder.border(.watched, 6)
        #expect(names(builder) == start + ["Before main 4+2", "Static initialisers 6+14"])
        builder.border(.main, 9)
        #expect(
            names(builder) == start + ["Before main 4+2", "Static initialisers 6+3", "Main 9+11"])
    }

    /// Each set of borders that were not seen, of a dynamic program and of a static one: a phase begins at
    /// its own border and ends at the next one that a launch comes to, or says that it is not divided.
    @Test(arguments: 0..<64) func noPhaseOfABorderThatWasNotSeen(set: Int) {
        let all: [(kind: LaunchBorder.Kind, time: Int64, phase: String)] = [
            (.spawned, 0, "Process creation"), (.firstInstruction, 2, "Dynamic linking"),
            (.relocated, 5, "Static initialisers"), (.main, 9, "Main"),
        ]
        let isDynamic = set & 16 != 0
        let hasImages = set & 32 != 0
        var builder = RecordingBuilder(images: hasImages ? [("/home/dev/app", 2)] : [])
        if isDynamic { _ = builder.module("/lib64/ld-linux-x86-64.so.2") }
        // A static program is not relocated: that is no border of its launch.
        let steps = all.enumerated().filter {
            isDynamic || set & 4 != 0 || $0.element.kind != .relocated
        }
        let seen = steps.filter {
            set & 1 << $0.offset != 0 || (hasImages && $0.element.kind == .firstInstruction)
        }
        for (_, border) in seen { builder.border(border.kind, border.time) }
        builder.border(.ended, 20)
        let phases = Profile(builder.recording).phases
        for phase in phases {
            let start = phase.start + .milliseconds(seen.first?.element.time ?? 20)
            let end = start + phase.wall
            let position = steps.firstIndex { .milliseconds($0.element.time) == start }
            guard let position, let next = steps.dropFirst(position + 1).first?.element,
                phase.name != "Main"
            else {
                #expect(phase.name == "Main" || phase.name == "Not divided")
                continue
            }
            if phase.name == "Before main" {
                #expect(end <= .milliseconds(9) && end > .milliseconds(next.time))
            } else if phase.name == "Not divided" {
                #expect(end == .milliseconds(20))
            } else if phase.name == "Process creation", seen.count == 1, !hasImages {
                #expect(end == .milliseconds(20))
            } else {
                #expect(end == .milliseconds(next.time))
                let isStatic = steps.count == 3
                let own = steps[position].element.phase
                #expect(phase.name == (isStatic && position == 1 ? "Static initialisers" : own))
            }
        }
        let walls = phases.reduce(TimeSpan.zero) { $0 + $1.wall }
        #expect(walls == Profile(builder.recording).launch.wall)
    }

    /// A busy machine reports late, and several rings in any order: a border is where it was noted, and no
    /// phase begins before the one in front of it has ended.
    @Test(arguments: 0..<200) func phasesDoNotDependOnTheOrderOfReports(seed: Int) {
        var random = SeededNumbers(seed: UInt64(seed))
        var times: [Int64] = [0]
        for _ in 0..<4 { times.append((times.last ?? 0) + .random(in: 1...40, using: &random)) }
        var builder = RecordingBuilder(images: [("/home/dev/app", times[1])])
        let kinds: [LaunchBorder.Kind] = [.spawned, .firstInstruction, .relocated, .main, .ended]
        for index in kinds.indices.shuffled(using: &random) {
            builder.border(kinds[index], times[index])
        }
        let main = builder.thread("app", tid: 7, to: times[4], isMain: true)
        let stack = builder.stack("main")
        // Slices as long as the recorder was late: they lie across borders.
        var starts = Set((0..<10).map { _ in Int64.random(in: 0..<times[4], using: &random) })
            .union([times[1]]).sorted()
        starts.append(times[4])
        for index in starts.indices.dropLast().shuffled(using: &random) {
            let length = starts[index + 1] - starts[index]
            builder.slice(main, at: starts[index], running: length, stack)
        }
        let phases = Profile(builder.recording).phases
        #expect(
            phases.map(\.name) == [
                "Process creation", "Dynamic linking", "Static initialisers", "Main",
            ])
        #expect(phases.map(\.start) == times.dropLast().map { .milliseconds($0) })
        for (phase, next) in zip(phases, phases.dropFirst()) {
            #expect(phase.start + phase.wall == next.start)
            #expect(phase.cpu <= phase.wall)
        }
    }

    @Test func processThatNeverExecsIsOnlyCreated() {
        var builder = RecordingBuilder()
        builder.border(.spawned, 0)
        builder.border(.ended, 3)
        #expect(names(builder) == ["Process creation 0+3"])
    }

    @Test func attachedIsOnePhase() {
        var builder = RecordingBuilder(attached: true, images: [("/home/dev/app", 0)])
        builder.border(.attached, 0)
        builder.border(.ended, 50)
        let profile = Profile(builder.recording)
        #expect(describe(profile) == ["Attached 0+50"])
        #expect(profile.phases.first?.group == .afterMain)
    }

    @Test func recordingCutShortEndsWithItsLastSlice() {
        var builder = RecordingBuilder(images: [("/home/dev/app", 1)])
        builder.border(.spawned, 0)
        builder.border(.firstInstruction, 1)
        builder.border(.relocated, 2)
        builder.border(.main, 3)
        let main = builder.thread("app", tid: 100, isMain: true)
        builder.slice(main, at: 3, running: 4, builder.stack("main"))
        let profile = Profile(builder.recording)
        #expect(describe(profile).last == "Main 3+4")
        #expect(profile.threads.first?.end == .milliseconds(7))
    }

    @Test func nothingRecordedIsAnEmptyLaunch() {
        let profile = Profile(RecordingBuilder().recording)
        #expect(profile.phases.isEmpty)
        #expect(profile.launch.wall == .zero)
        #expect(profile.heaviestStack(weight: .cpu).entries.isEmpty)
    }

    @Test func countersAreTakenAtBorders() {
        var builder = RecordingBuilder(images: [("/home/dev/app", 1)])
        builder.border(.spawned, 0, ProcessCounters(minorFaults: 3, majorFaults: 0))
        builder.border(
            .firstInstruction, 1, ProcessCounters(minorFaults: 10, majorFaults: 1, readBytes: 4096))
        builder.border(
            .main, 5, ProcessCounters(minorFaults: 40, majorFaults: 1, readBytes: 12288))
        // A counter that falls was reset: its difference means nothing.
        builder.border(.ended, 9, ProcessCounters(minorFaults: 41, majorFaults: 0))
        let counters = Profile(builder.recording).phases.map(\.counters)
        #expect(
            counters == [
                ProcessCounters(minorFaults: 7, majorFaults: 1),
                ProcessCounters(minorFaults: 30, majorFaults: 0, readBytes: 8192),
                ProcessCounters(minorFaults: 1),
            ])
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func phasesTileWhateverTheMarks(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var builder = RecordingBuilder(attached: seed.isMultiple(of: 5))
        for _ in 0..<Int.random(in: 0...8, using: &random) {
            let kind = LaunchBorder.Kind.allCases.randomElement(using: &random) ?? .main
            let time =
                [Int64.min, -1, 0, 5, 9, .max].randomElement(using: &random)
                ?? 0
            builder.recording.borders.append(
                LaunchBorder(kind: kind, time: MonotonicTime(nanoseconds: time)))
            if Bool.random(using: &random) {
                builder.recording.images.append(
                    Image(
                        path: "", arguments: [],
                        time: MonotonicTime(nanoseconds: Int64.random(in: -9...9, using: &random))))
            }
        }
        let profile = Profile(builder.recording)
        var end = TimeSpan.zero
        for phase in profile.phases {
            #expect(phase.start == end)
            #expect(phase.wall > .zero)
            end = phase.end
        }
        #expect(end == profile.launch.wall)
    }

    /// Reports come late, and one before the other. A phase begins when its border was noted, whatever
    /// was reported first.
    @Test(arguments: 0..<200 as Range<UInt64>)
    func notedTimesAreKept(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var times: Set<Int64> = []
        while times.count < 4 { times.insert(Int64.random(in: 1...1_000_000, using: &random)) }
        let sorted = times.sorted()
        var builder = RecordingBuilder(images: [("/bin/app", 0)])
        builder.recording.images[0].time = MonotonicTime(nanoseconds: sorted[0])
        let kinds: [LaunchBorder.Kind] = [.firstInstruction, .relocated, .main, .ended]
        let borders =
            zip(kinds, sorted).map { LaunchBorder(kind: $0, time: MonotonicTime(nanoseconds: $1)) }
            + [LaunchBorder(kind: .spawned, time: MonotonicTime(nanoseconds: 0))]
        builder.recording.borders = borders.shuffled(using: &random)
        let profile = Profile(builder.recording)
        #expect(
            profile.phases.map(\.name)
                == ["Process creation", "Dynamic linking", "Static initialisers", "Main"])
        #expect(profile.phases.map(\.start.nanoseconds) == [0] + sorted.prefix(3))
        #expect(profile.launch.wall.nanoseconds == sorted[3])
    }
}
