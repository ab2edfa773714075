import Analysis
import ProfileModel
import TestSupport
import Testing

/// One launch's phases, computed from its observed moments.
@Suite struct LaunchFiguresTests {
    private func time(_ count: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: count) }
    private func span(_ count: Int64) -> TimeSpan { TimeSpan(nanoseconds: count) }

    private func image(_ path: String, _ time: Int64) -> Image {
        Image(path: path, arguments: [], time: self.time(time))
    }

    /// From 1,000: created until 1,100, held until 1,150, relocated 1,300 (held until 1,320), main
    /// 1,400, ended 2,000.
    private var observed: ObservedLaunch {
        var launch = ObservedLaunch(
            borders: [
                LaunchBorder(kind: .spawned, time: time(1000)),
                LaunchBorder(kind: .held, time: time(1100)),
                LaunchBorder(kind: .released, time: time(1150)),
                LaunchBorder(kind: .firstInstruction, time: time(1150)),
                LaunchBorder(kind: .relocated, time: time(1300)),
                LaunchBorder(kind: .held, time: time(1300)),
                LaunchBorder(kind: .released, time: time(1320)),
                LaunchBorder(kind: .main, time: time(1400)),
                LaunchBorder(kind: .ended, time: time(2000)),
            ], images: [image("/bin/app", 1150)])
        launch.isDynamic = true
        launch.outcome = .exited(0)
        launch.cpu = [
            time(1000): .zero, time(1150): span(90), time(1300): span(230), time(1400): span(300),
            time(2000): span(450),
        ]
        return launch
    }

    @Test func heldTimeIsLeftOut() {
        let launch = MeasuredLaunch(observed, arm: 1, since: time(900))
        #expect(launch.arm == 1 && launch.start == span(100))
        #expect(launch.wall == span(930) && launch.held == span(70))
        #expect(
            launch.phases == [
                MeasuredPhase(name: "Process creation", wall: span(100), cpu: span(90)),
                MeasuredPhase(name: "Dynamic linking", wall: span(150), cpu: span(140)),
                MeasuredPhase(name: "Static initialisers", wall: span(80), cpu: span(70)),
                MeasuredPhase(name: "Main", wall: span(600), cpu: span(150)),
            ])
        #expect(launch.cpu == span(450) && launch.discarded == nil && launch.readyBy == nil)
    }

    @Test func unknownCPUIsNoZero() {
        var launch = observed
        launch.cpu[time(1300)] = nil
        let phases = MeasuredLaunch(launch, since: time(0)).phases
        #expect(phases.map(\.cpu) == [span(90), nil, nil, span(150)])
        // A clock that went back means nothing.
        launch.cpu[time(1300)] = span(1000)
        #expect(MeasuredLaunch(launch, since: time(0)).phases[2].cpu == nil)
        launch.cpu[time(2000)] = nil
        #expect(MeasuredLaunch(launch, since: time(0)).cpu == nil)
    }

    @Test func wrappersAndProgramsThatDiedEarly() {
        var launch = observed
        launch.images = [image("/bin/sh", 1150), image("", 1500)]
        for kind in [LaunchBorder.Kind.watched, .firstInstruction] {
            launch.borders.insert(LaunchBorder(kind: kind, time: time(1500)), at: 8)
        }
        #expect(
            MeasuredLaunch(launch, since: time(0)).phases.map(\.name)
                == ["Process creation", "Wrapper: sh", "Dynamic linking"])
        launch.isDynamic = false
        #expect(
            MeasuredLaunch(launch, since: time(0)).phases.last?.name == "Static initialisers")
    }

    @Test func whyALaunchDoesNotCount() {
        func discard(_ change: (inout ObservedLaunch) -> Void) -> MeasuredLaunch.Discard? {
            var launch = observed
            change(&launch)
            return MeasuredLaunch(launch, since: time(0)).discarded
        }
        let ready = Readiness(time: time(2000), by: "notify")
        #expect(discard { _ in } == nil)
        #expect(discard { $0.awaitsReady = true } == .notReady)
        #expect(discard { ($0.awaitsReady, $0.ready) = (true, ready) } == nil)
        #expect(discard { $0.outcome = .signalled(11) } == .failed)
        #expect(discard { ($0.outcome, $0.ready) = (.signalled(11), ready) } == nil)
        #expect(discard { ($0.isHung, $0.awaitsReady) = (true, true) } == .hung)
        #expect(discard { ($0.isInterrupted, $0.isHung) = (true, true) } == .interrupted)
    }

    /// With any borders: the phases tile the launch, and nothing is below zero.
    @Test(arguments: 0..<200)
    func phasesAddUp(seed: UInt64) {
        var numbers = SeededNumbers(seed: seed)
        let kinds: [LaunchBorder.Kind] = [
            .spawned, .firstInstruction, .relocated, .main, .ended, .held, .released,
        ]
        let borders = (0..<Int.random(in: 0...14, using: &numbers)).map { _ in
            LaunchBorder(
                kind: kinds.randomElement(using: &numbers) ?? .main,
                time: time(Int64.random(in: 0...100, using: &numbers)))
        }
        var launch = ObservedLaunch(
            borders: borders,
            images: (0..<Int.random(in: 0...3, using: &numbers)).map { image("/bin/\($0)", 5) })
        for border in borders where Bool.random(using: &numbers) {
            launch.cpu[border.time] = span(Int64.random(in: 0...100, using: &numbers))
        }
        let figures = MeasuredLaunch(launch, since: time(0))
        #expect(figures.phases.reduce(.zero) { $0 + $1.wall } == figures.wall)
        #expect(figures.phases.allSatisfy { $0.wall > .zero && ($0.cpu ?? .zero) >= .zero })
        #expect(figures.held >= .zero && figures.wall >= .zero)
    }
}
