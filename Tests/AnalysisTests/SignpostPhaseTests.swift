import Analysis
import MadeRecordings
import ProfileModel
import TestSupport
import Testing

/// The launch's phases, made from intervals of the category `launch` and from readiness.
@Suite struct SignpostPhaseTests {
    private func launch() -> RecordingBuilder {
        var builder = RecordingBuilder(images: [("/home/dev/app", 2)])
        builder.border(.spawned, 0)
        builder.border(.firstInstruction, 2)
        builder.border(.relocated, 5)
        builder.border(.main, 10)
        builder.border(.ended, 100)
        return builder
    }

    /// "NAME START+WALL" in milliseconds, of the phases from Main on.
    private func afterMain(_ builder: RecordingBuilder) -> [String] {
        Profile(builder.recording).phases.filter { $0.group == .afterMain }.map {
            "\($0.name) \($0.start.nanoseconds / 1_000_000)+\($0.wall.nanoseconds / 1_000_000)"
        }
    }

    @Test func withoutSignpostsAllIsMain() {
        #expect(afterMain(launch()) == ["Main 10+90"])
    }

    @Test func gapsAreMain() {
        var builder = launch()
        builder.interval("Load", "launch", from: 20, to: 50)
        builder.interval("Draw", "launch", from: 60, to: 80)
        #expect(
            afterMain(builder)
                == ["Main 10+10", "Load 20+30", "Main 50+10", "Draw 60+20", "Main 80+20"])
    }

    @Test func intervalsThatFillMainLeaveNoneOfIt() {
        var builder = launch()
        builder.interval("Load", "launch", from: 0, to: 50)
        builder.interval("Draw", "launch", from: 50, to: 200)
        #expect(afterMain(builder) == ["Load 10+40", "Draw 50+50"])
    }

    @Test func theOutermostWins() {
        var builder = launch()
        builder.interval("inner", "launch", from: 25, to: 30)
        builder.interval("Outer", "launch", from: 20, to: 50)
        builder.interval("late", "launch", from: 40, to: 60)
        #expect(afterMain(builder) == ["Main 10+10", "Outer 20+30", "late 50+10", "Main 60+40"])
    }

    @Test func otherCategoriesAreNoPhases() {
        var builder = launch()
        builder.interval("a", "", from: 20, to: 50)
        builder.interval("b", "Launch", from: 20, to: 50)
        builder.interval("c", "extended", from: 20, to: 50)
        #expect(afterMain(builder) == ["Main 10+90"])
        #expect(Profile(builder.recording).intervals.map(\.isPhase) == [false, false, true])
    }

    @Test func attachedRecordingsAreDividedToo() {
        var builder = RecordingBuilder(attached: true)
        builder.border(.attached, 0)
        builder.border(.ended, 100)
        builder.interval("Load", "launch", from: -5, to: 40)
        #expect(afterMain(builder) == ["Load 0+40", "Attached 40+60"])
    }

    // MARK: Readiness

    @Test func readinessEndsMain() {
        var builder = launch()
        builder.ready("notify", at: 70)
        builder.interval("Load", "launch", from: 60, to: 90)
        let profile = Profile(builder.recording)
        #expect(afterMain(builder) == ["Main 10+50", "Load 60+10", "Extended 70+30"])
        #expect(profile.ready?.time == .milliseconds(70) && profile.ready?.by == "notify")
        #expect(profile.launch.wall == .milliseconds(100))
    }

    @Test func theLastExtendedIntervalEndsTheLaunch() {
        var builder = launch()
        builder.ready("notify", at: 50)
        builder.interval("a", "extended", from: 30, to: 60)
        builder.interval("b", "extended", from: 55, to: 75)
        builder.interval("c", "extended", from: 20, to: 40)
        #expect(afterMain(builder) == ["Main 10+40", "Extended 50+25"])
        #expect(Profile(builder.recording).launch.wall == .milliseconds(75))
        // An interval that was over before says nothing about the time after it.
        builder.recording.intervals.removeFirst(2)
        #expect(afterMain(builder) == ["Main 10+40", "Extended 50+50"])
    }

    @Test func readyInTheEndLeavesNoExtended() {
        var builder = launch()
        builder.ready("exit", at: 100)
        #expect(afterMain(builder) == ["Main 10+90"])
        builder.ready("exit", at: 150)
        #expect(afterMain(builder) == ["Main 10+90"])
    }

    @Test func readyBeforeMainEndsTheLaunchThere() {
        var builder = launch()
        builder.ready("notify", at: 7)
        let phases = Profile(builder.recording).phases
        #expect(
            phases.map(\.name)
                == ["Process creation", "Dynamic linking", "Static initialisers", "Extended"])
        #expect(phases.last?.wall == .milliseconds(93))
    }

    @Test func aThousandIntervalsLeaveABoundedNumberOfPhases() {
        var builder = launch()
        for index in 0..<5000 as Range<Int64> {
            builder.recording.intervals.append(
                Interval(
                    name: "step", category: "launch", thread: nil,
                    start: RecordingBuilder.at(10) + TimeSpan(nanoseconds: index * 10_000),
                    end: RecordingBuilder.at(10)
                        + TimeSpan(nanoseconds: index * 10_000 + (index < 50 ? 9_000 : 5_000))))
        }
        let phases = Profile(builder.recording).phases
        #expect(phases.filter { $0.name == "step" }.count == 200)
        // The longest are among them.
        #expect(phases.filter { $0.wall == TimeSpan(nanoseconds: 9_000) }.count == 50)
        #expect(phases.reduce(.zero) { $0 + $1.wall } == .milliseconds(100))
    }

    /// Against the definition: at any moment the phase is the interval that began first of those
    /// that go on, the longer if two began together.
    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func agreesWithTheDefinition(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        var builder = launch()
        for index in 0..<Int.random(in: 0...9, using: &random) {
            let start = Int64.random(in: 0...105, using: &random)
            builder.interval(
                "i\(index)", "launch", from: start,
                to: start + Int64.random(in: 0...40, using: &random))
        }
        let ready = Bool.random(using: &random) ? Int64.random(in: 11...99, using: &random) : nil
        if let ready { builder.ready("notify", at: ready) }
        let profile = Profile(builder.recording)
        var cursor = TimeSpan.zero
        for phase in profile.phases {
            #expect(phase.start == cursor)
            #expect(phase.wall > .zero)
            cursor = phase.end
        }
        #expect(cursor == profile.launch.wall)
        for time in 10..<100 as Range<Int64> {
            let moment = RecordingBuilder.at(time)
            let active = builder.recording.intervals
                .filter { $0.start <= moment && moment < $0.end }
                .min { ($0.start, $1.end, $0.name) < ($1.start, $0.end, $1.name) }
            let expected = time >= ready ?? .max ? "Extended" : active?.name ?? "Main"
            let phase = try #require(
                profile.phases.last { $0.start <= .milliseconds(time) })
            #expect(phase.name == expected, "at \(time)")
        }
    }
}
