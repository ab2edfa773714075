import MadeRecordings
import ProfileModel
import TestSupport
import Testing

@testable import Analysis

/// The phases into which stacks divide a Python program's *Main*.
@Suite struct InterpreterPhaseTests {
    private typealias Spot = RecordingBuilder.Spot
    private let app = ScriptLaunch.app
    private let json = ScriptLaunch.imported("json")
    private let work = ScriptLaunch.function("work", "/home/dev/app.py", 9)

    private func usual() -> ScriptLaunch {
        var launch = ScriptLaunch()
        launch.start(8)
        launch.run(10, in: app, json)
        launch.run(20, in: app, work)
        return launch
    }

    @Test func startUpImportsProgram() {
        #expect(usual().phases == ["Interpreter start-up 10+8", "Imports 18+10", "Program 28+20"])
    }

    @Test func partsAddUpToMain() throws {
        let profile = usual().profile
        let whole = try #require(profile.wholePhases.last)
        #expect(whole.name == "Main" && whole.wall == .milliseconds(38))
        #expect(whole.cpu == .milliseconds(38) && whole.mainThread.running == .milliseconds(38))
        // Counters are known only for the whole.
        #expect(whole.counters.majorFaults == 2 && whole.isCold)
        #expect(profile.phases.last?.counters.majorFaults == nil)
        #expect(profile.phases.reduce(.zero) { $0 + $1.wall } == profile.launch.wall)
        #expect(profile.wholePhases.reduce(.zero) { $0 + $1.wall } == profile.launch.wall)
        #expect(profile.phases.compactMap(\.whole) == ["Main", "Main", "Main"])
    }

    @Test func bordersAreAsExactAsSamples() {
        #expect(
            usual().profile.phases.suffix(3).map(\.startPrecision)
                == [.zero, .milliseconds(1), .milliseconds(1)])
        var launch = ScriptLaunch()
        launch.start(8)
        launch.lose(5)
        launch.run(20, in: app, work)
        #expect(launch.phases == ["Interpreter start-up 10+13", "Program 23+20"])
        #expect(launch.profile.phases.last?.startPrecision == .milliseconds(6))
    }

    /// The border is where the least lies on the wrong side.
    @Test func workBetweenImportsIsWeighed() {
        var launch = ScriptLaunch()
        launch.start()
        launch.run(10, in: app, json)
        launch.run(2, in: app, work)
        launch.run(10, in: app, ScriptLaunch.imported("re"))
        launch.run(30, in: app, work)
        launch.run(5, in: app, ScriptLaunch.imported("late"))
        launch.run(30, in: app, work)
        #expect(launch.phases == ["Interpreter start-up 10+8", "Imports 18+22", "Program 40+65"])
    }

    /// By trying every border.
    @Test(arguments: 0..<50)
    func noOtherBorderHasLessOnTheWrongSide(seed: Int) throws {
        var random = SeededNumbers(seed: UInt64(seed))
        var launch = ScriptLaunch()
        launch.start()
        var kinds: [Bool] = []
        for _ in 0..<Int.random(in: 1...40, using: &random) {
            let isImport = Int.random(in: 0..<40, using: &random) > kinds.count
            kinds.append(isImport)
            launch.run(1, in: app, isImport ? json : work)
        }
        func wrong(_ border: Int) -> Int {
            kinds.prefix(border).filter { !$0 }.count + kinds.dropFirst(border).filter { $0 }.count
        }
        let least = try #require((0...kinds.count).map(wrong).min())
        let imports = launch.profile.phases.first { $0.name == "Imports" }?.wall ?? .zero
        #expect(wrong(Int(imports.nanoseconds / 1_000_000)) == least)
        #expect(launch.profile.phases.reduce(.zero) { $0 + $1.wall } == launch.profile.launch.wall)
    }

    @Test func functionsThatImportAreTheProgram() {
        var launch = ScriptLaunch()
        launch.start()
        launch.run(20, in: app, work, json)
        #expect(launch.phases == ["Interpreter start-up 10+8", "Program 18+20"])
    }

    @Test func aModuleIsFoundAndImported() {
        var launch = ScriptLaunch()
        let runpy = ScriptLaunch.function("_run_module_as_main", "<frozen runpy>")
        launch.run(3, in: ScriptLaunch.imported("runpy"), ScriptLaunch.module("<frozen runpy>"))
        launch.run(4, in: runpy, ScriptLaunch.function("find_spec", "<frozen importlib.util>"))
        launch.run(
            5, in: runpy, ScriptLaunch.imported("pkg"),
            ScriptLaunch.module("/home/dev/pkg/__init__.py"))
        launch.run(6, in: runpy, ScriptLaunch.module("/home/dev/pkg/__main__.py"), json)
        launch.run(
            7, in: runpy, ScriptLaunch.module("/home/dev/pkg/__main__.py"),
            ScriptLaunch.function("main", "/home/dev/pkg/cli.py"))
        #expect(launch.phases == ["Interpreter start-up 10+3", "Imports 13+15", "Program 28+7"])
    }

    @Test func importModuleIsAnImport() {
        var launch = ScriptLaunch()
        launch.start()
        launch.run(
            9, in: app,
            ScriptLaunch.function("import_module", "/usr/lib/python3.11/importlib/__init__.py"),
            json)
        launch.run(9, in: app)
        #expect(launch.phases == ["Interpreter start-up 10+8", "Imports 18+9", "Program 27+9"])
    }

    @Test func aProgramThatWasNotSeenIsNotDivided() {
        var launch = ScriptLaunch()
        launch.start(8)
        launch.run(5, in: ScriptLaunch.module("<frozen getpath>"))
        #expect(launch.phases == ["Main 10+13"])
    }

    @Test func embeddedPythonIsNoProgram() {
        var launch = ScriptLaunch(program: "/usr/bin/gdb")
        for _ in 0..<20 {
            launch.run(
                1, in: Spot("PyEval_EvalCode", "/usr/lib/libpython3.11.so.1.0"), app, work,
                under: Spot("main", "/usr/bin/gdb"))
        }
        #expect(launch.phases == ["Main 10+20"])
    }

    @Test func interpretersInLibrariesAreKnownByTheirMain() {
        var launch = ScriptLaunch(program: "/opt/tool/bin/tool")
        let main = Spot("Py_BytesMain", "/opt/tool/lib/libpython3.11.so.1.0")
        launch.run(5, in: ScriptLaunch.imported("site"), under: main)
        launch.run(5, in: app, work, under: main)
        #expect(launch.phases == ["Interpreter start-up 10+5", "Program 15+5"])
    }

    @Test func otherThreadsAndTruncatedStacksTellNothing() {
        var launch = usual()
        let thread = launch.builder.thread("worker", tid: 101, from: 10, to: 100)
        let stack = launch.builder.stack([ScriptLaunch.python, app, work])
        launch.builder.slice(thread, at: 10, running: 5, stack)
        launch.builder.slice(launch.main, at: 10, running: 1, stack, truncation: .stackLimit)
        #expect(launch.phases == ["Interpreter start-up 10+8", "Imports 18+10", "Program 28+20"])
    }

    @Test func attachedProgramsAreNotDivided() {
        var builder = RecordingBuilder(attached: true, images: [("/usr/bin/python3.11", 0)])
        builder.border(.attached, 0)
        builder.border(.ended, 20)
        let main = builder.thread("python3", tid: 100, to: 20, isMain: true)
        builder.slice(main, at: 0, running: 20, builder.stack([ScriptLaunch.python, app, work]))
        #expect(Profile(builder.recording).phases.map(\.name) == ["Attached"])
    }

    // MARK: Beside other borders

    @Test func readinessEndsTheProgram() {
        var launch = usual()
        launch.builder.ready("notify", at: 23)
        #expect(
            launch.phases == ["Interpreter start-up 10+8", "Imports 18+5", "Extended 23+25"])
    }

    @Test func intervalsLieWithinTheParts() {
        var launch = usual()
        launch.builder.interval("Load", "launch", from: 22, to: 32)
        #expect(
            launch.phases == [
                "Interpreter start-up 10+8", "Imports 18+4", "Load 22+10", "Program 32+16",
            ])
        #expect(launch.profile.wholePhases.map(\.name).suffix(3) == ["Main", "Load", "Main"])
    }

    @Test func theWholeIsFoundByItsName() throws {
        let profile = usual().profile
        #expect(try profile.selection(phase: "main").phases == [3, 4, 5])
        #expect(try profile.selection(phase: "imp").phases == [4])
    }

    @Test func comparedWithAWholeMainItIsWhole() {
        var other = ScriptLaunch()
        other.run(30)
        let comparison = ProfileComparison(before: other.profile, after: usual().profile)
        #expect(comparison.phases.map(\.name).last == "Main")
        #expect(!comparison.phases.contains { !$0.isCommon })
        #expect(comparison.phases.last?.wall.after == .milliseconds(38))
        let alike = ProfileComparison(before: usual().profile, after: usual().profile)
        #expect(
            alike.phases.map(\.name).suffix(3) == ["Interpreter start-up", "Imports", "Program"])
    }
}
