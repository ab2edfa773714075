import MadeRecordings
import ProfileModel
import TestSupport
import Testing

@testable import Analysis

/// Imports that cost a Python program's launch more than they need to.
@Suite struct ScriptFindingTests {
    private typealias Spot = RecordingBuilder.Spot
    private let app = ScriptLaunch.app
    private let work = ScriptLaunch.function("work", "/home/dev/app.py", 9)
    private let frame = ScriptLaunch.imported("frames")
    private let frameFile = ScriptLaunch.module("/venv/site-packages/frames/__init__.py")
    private let array = ScriptLaunch.imported("arrays")
    private let arrayFile = ScriptLaunch.module("/venv/site-packages/arrays/__init__.py")

    // MARK: Unused imports

    private func importing(then spots: Spot...) -> ScriptLaunch {
        var launch = ScriptLaunch()
        launch.start()
        launch.run(30, in: app, frame, frameFile)
        launch.run(20, in: app, frame, frameFile, array, arrayFile)
        launch.run(40, in: app, work)
        for spot in spots { launch.run(3, in: app, work, spot) }
        return launch
    }

    @Test func anImportThatIsNotUsed() throws {
        let launch = importing()
        let found = try #require(launch.findings(.unusedImport).first)
        #expect(found.saving == .milliseconds(50))
        let profile = launch.profile
        #expect(profile.frames.function(of: found.place).module == "app.py")
        #expect(profile.phase(of: found).map { profile.phases[$0].name } == "Imports")
        #expect(
            found.subject
                == .unusedImport(
                    ImportEvidence(module: "frames", cpu: .milliseconds(50), used: [])))
    }

    @Test func aModuleWithSamplesIsUsed() {
        let used = ScriptLaunch.function("join", "/venv/site-packages/frames/core/join.py")
        #expect(
            importing(then: used).findings(.unusedImport).map(\.subject) == [
                .unusedImport(ImportEvidence(module: "arrays", cpu: .milliseconds(20), used: []))
            ])
        let array = Spot("add", "/venv/site-packages/arrays/_core.cpython-311-x86_64-linux-gnu.so")
        #expect(importing(then: used, array).findings(.unusedImport).isEmpty)
    }

    @Test func usedImportsOfAnUnusedModuleDoNotCount() throws {
        let array = Spot("add", "/venv/site-packages/arrays/_core.cpython-311-x86_64-linux-gnu.so")
        let found = try #require(importing(then: array).findings(.unusedImport).first)
        #expect(found.saving == .milliseconds(30))
        #expect(
            found.subject
                == .unusedImport(
                    ImportEvidence(module: "frames", cpu: .milliseconds(30), used: ["arrays"])))
    }

    @Test func compiledModulesRunInALibraryOfTheirOwn() {
        var launch = ScriptLaunch()
        launch.start()
        launch.run(
            30, in: app, frame,
            Spot("PyInit_frames", "/venv/site-packages/frames/__init__.cpython-311.so"))
        launch.run(
            40, in: app, work, Spot("CPyDef_run", "/venv/site-packages/0a1b__mypyc.cpython-311.so"))
        #expect(launch.findings(.unusedImport).isEmpty)
    }

    @Test func theInterpretersShutdownIsNoUse() {
        var launch = importing()
        launch.run(
            3, in: Spot("Py_FinalizeEx", "/usr/bin/python3.11"),
            ScriptLaunch.function("close", "/venv/site-packages/frames/__init__.py"))
        #expect(launch.findings(.unusedImport).count == 1)
    }

    @Test func aProgramThatOnlyImportsUsesNothing() {
        var launch = ScriptLaunch()
        launch.start()
        launch.run(50, in: app, frame, frameFile)
        launch.run(2, in: app)
        #expect(launch.findings(.unusedImport).isEmpty)
    }

    /// Tools import what their commands need in a function.
    @Test func anImportInAFunctionThatIsNotUsed() throws {
        var launch = ScriptLaunch()
        launch.start()
        launch.run(10, in: app, work)
        launch.run(30, in: app, work, frame, frameFile)
        launch.run(2, in: app, work)
        #expect(launch.findings(.unusedImport).isEmpty)
        launch.run(10, in: app, work)
        let found = try #require(launch.findings(.unusedImport).first)
        #expect(found.saving == .milliseconds(30))
        #expect(launch.profile.frames.function(of: found.place).name == "work")
        launch.run(
            3, in: app, work, ScriptLaunch.function("join", "/venv/site-packages/frames/a.py"))
        #expect(launch.findings(.unusedImport).isEmpty)
    }

    @Test func lightImportsAreNoFinding() {
        var launch = ScriptLaunch()
        launch.start()
        launch.run(4, in: app, frame, frameFile)
        launch.run(100, in: app, work)
        #expect(launch.findings(.unusedImport).isEmpty)
    }

    /// Before the program, only imports of packages that were installed count.
    @Test func startUpImportsOfPackagesCount() {
        var launch = ScriptLaunch()
        launch.start(20)
        let site = ScriptLaunch.imported("site")
        launch.run(20, in: site, frame, frameFile)
        launch.run(40, in: app, work)
        #expect(
            launch.findings(.unusedImport).map(\.subject) == [
                .unusedImport(ImportEvidence(module: "frames", cpu: .milliseconds(20), used: []))
            ])
    }

    // MARK: Repeated imports

    private let missing = ScriptLaunch.imported("faster")

    private func calling(_ times: Int, _ spots: Spot...) -> ScriptLaunch {
        var launch = ScriptLaunch()
        launch.start()
        launch.run(20, in: app, work)
        for _ in 0..<times {
            for spot in spots { launch.run(3, in: app, work, spot) }
            launch.run(2, in: app, work)
        }
        return launch
    }

    @Test func aModuleThatIsLookedForEachTime() throws {
        let launch = calling(4, missing)
        let found = try #require(launch.findings(.repeatedImports).first)
        #expect(launch.findings(.repeatedImports).count == 1)
        #expect(found.saving == .milliseconds(12))
        #expect(launch.profile.frames.function(of: found.place).name == "work")
        #expect(
            found.subject
                == .repeatedImports(RepeatedImportEvidence(modules: ["faster"], count: 4)))
    }

    @Test func statementsThatFindTheirModuleCountToo() throws {
        let statement = Spot("PyImport_ImportModuleLevelObject", "/usr/bin/python3.11")
        let found = try #require(calling(4, statement).findings(.repeatedImports).first)
        #expect(
            found.subject == .repeatedImports(RepeatedImportEvidence(modules: [], count: 4)))
    }

    @Test func severalFirstImportsAreNotRepeated() {
        let modules = ["a", "b", "c", "d"].map(ScriptLaunch.imported)
        var launch = ScriptLaunch()
        launch.start()
        for module in modules {
            launch.run(9, in: app, work, module)
            launch.run(2, in: app, work)
        }
        #expect(launch.findings(.repeatedImports).isEmpty)
        #expect(calling(2, missing).findings(.repeatedImports).isEmpty)
    }

    @Test func unreadableFramesMayBeTheSameImport() {
        var launch = ScriptLaunch()
        launch.start()
        for _ in 0..<5 {
            launch.run(4, in: app, work, missing)
            launch.lose(1)
            launch.run(1)
        }
        launch.run(20, in: app, work)
        #expect(launch.findings(.repeatedImports).isEmpty)
    }

    // MARK: Bytecode

    private let compiling = ScriptLaunch.function(
        "SourceLoader.source_to_code", "<frozen importlib._bootstrap_external>")

    private func compiling(for time: Int64, arguments: [String] = ["app.py"]) -> ScriptLaunch {
        var launch = ScriptLaunch(arguments: arguments)
        launch.start()
        launch.run(2, in: app, frame, frameFile)
        launch.run(time, in: app, frame, compiling)
        launch.run(time / 2, in: app, frame, frameFile, array, compiling)
        launch.run(40, in: app, work)
        return launch
    }

    @Test func modulesThatAreCompiled() throws {
        let found = try #require(compiling(for: 10).findings(.uncachedBytecode).first)
        #expect(found.saving == .milliseconds(15))
        #expect(
            found.subject
                == .uncachedBytecode(
                    CompilationEvidence(
                        modules: ["frames", "arrays"], wasWritten: false, isDisabled: false)))
    }

    @Test func aWriteThatWasSeenIsTold() throws {
        var launch = compiling(for: 10)
        launch.run(
            1, in: app, frame,
            ScriptLaunch.function(
                "SourceFileLoader.set_data", "<frozen importlib._bootstrap_external>"))
        guard
            case .uncachedBytecode(let evidence) = launch.findings(.uncachedBytecode).first?.subject
        else {
            Issue.record("not found")
            return
        }
        #expect(evidence.wasWritten)
    }

    @Test func modulesThatCompileThemselvesAreNotUncached() {
        var launch = ScriptLaunch()
        launch.start()
        let compiler = Spot("Py_CompileStringObject", "/usr/bin/python3.11")
        launch.run(20, in: app, frame, frameFile, compiler)
        launch.run(20, in: app, work, compiler)
        launch.run(3, in: app, frame, compiling)
        #expect(launch.findings(.uncachedBytecode).isEmpty)
    }

    @Test(arguments: [
        (["-B", "app.py"], true), (["-IB", "-c", "0"], true),
        (["-X", "dev", "-B", "app.py"], true),
        (["app.py", "-B"], false), (["-c", "0", "-B"], false), (["-m", "pip", "-B"], false),
        (["-W", "-B", "app.py"], false), (["-Wd", "-B", "app.py"], true), ([], false),
    ])
    func optionsBeforeTheProgram(_ arguments: [String], isDisabled: Bool) {
        #expect(UncachedBytecode.isDisabled(["python3"] + arguments) == isDisabled)
    }
}
