import Analysis
import MadeRecordings
import ProfileModel
import Testing

@testable import Report

/// The summary's remarks about phases that were divided by stacks.
@Suite struct DivisionRemarkTests {
    private func profile(starting name: String) -> Profile {
        typealias Spot = RecordingBuilder.Spot
        var builder = RecordingBuilder(images: [("/usr/bin/python3", 1)])
        builder.border(.spawned, 0)
        builder.border(.main, 10, ProcessCounters(majorFaults: 1, readBytes: 0))
        builder.border(.ended, 60, ProcessCounters(majorFaults: 4, readBytes: 8192))
        let main = builder.thread("python3", tid: 100, to: 60, isMain: true)
        let runtime = Module.runtimePath("Python 3.11.2")
        let root = Spot(name, "/home/dev/app")
        let site = Spot("import site", runtime, file: ScriptPath.ofImports)
        let script = Spot("<module>", runtime, file: "/home/dev/app.py", line: 3)
        builder.slice(main, at: 10, running: 20, builder.stack([root, site]))
        builder.slice(main, at: 30, running: 2, blocked: 28, builder.stack([root, script]))
        return Profile(builder.recording)
    }

    @Test func itSaysWhatIsAPartOfWhat() {
        let parts = profile(starting: "Py_RunMain")
        let lines = PhaseRemarks(profile: parts, phases: parts.phases).lines
        #expect(
            lines.contains(
                "Interpreter start-up, Program are parts of Main (50.0 ms), told apart by stacks: "
                    + "their borders may be off by 2.0 ms."))
        #expect(lines.contains { $0.hasSuffix("(a cold launch): Main 3, 8.0 KiB read.") })
        // How much was read in one part is not known.
        let last = PhaseRemarks(profile: parts, phases: parts.phases.suffix(1)).lines
        #expect(last.contains { $0.hasPrefix("Program is a part of Main") })
        #expect(!last.contains { $0.contains("cold") })
    }

    /// *Imports* ends where the program begins, which may import most of its modules in functions.
    @Test func itSaysWhatTheProgramImports() {
        typealias Spot = RecordingBuilder.Spot
        var builder = RecordingBuilder(images: [("/usr/bin/python3", 1)])
        builder.border(.spawned, 0)
        builder.border(.main, 10)
        builder.border(.ended, 60)
        let main = builder.thread("python3", tid: 100, to: 60, isMain: true)
        let runtime = Module.runtimePath("Python 3.11.2")
        let root = Spot("Py_RunMain", "/home/dev/app")
        let script = Spot("<module>", runtime, file: "/home/dev/app.py", line: 3)
        let work = Spot("work", runtime, file: "/home/dev/app.py", line: 9)
        let json = Spot("import json", runtime, file: ScriptPath.ofImports)
        builder.slice(main, at: 10, running: 10, builder.stack([root, script, work]))
        builder.slice(
            main, at: 20, running: 25, blocked: 5, builder.stack([root, script, work, json]))
        builder.slice(main, at: 50, running: 10, builder.stack([root, script, work]))
        let found = Profile(builder.recording)
        let lines = PhaseRemarks(profile: found, phases: found.phases).lines
        #expect(lines.contains("Program also imports modules: for 30.0 ms (60.0 %)."), "\(lines)")
    }

    @Test func ofAWholeMainItSaysNothing() {
        let whole = profile(starting: "main")
        let lines = PhaseRemarks(profile: whole, phases: whole.phases).lines
        #expect(!lines.contains { $0.contains("told apart") })
    }
}
