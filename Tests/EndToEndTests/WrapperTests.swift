import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Launch scripts that become the real program: one recording, with a phase for each program.
    @Suite struct Wrappers {
        private static let dynamic = ["Dynamic linking", "Static initialisers", "Main"]

        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        @Test func aScriptThatExecs() throws {
            let program = try Setup.fixture("static")
            let recorded = try Firstlight.record(
                [try Setup.fixture("wrapper.sh"), program, "argument"], in: scratch,
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
            let report = try recorded.json()
            if report.launch.hasLateExec {
                #expect(report.phaseNames.starts(with: ["Process creation", "Wrapper: sh"]))
                let text = try recorded.text("report", ["--notes"])
                #expect(text.contains("not seen (it was executed unnoticed)"), "\(text)")
            } else {
                #expect(
                    report.phaseNames == [
                        "Process creation", "Wrapper: sh", "Static initialisers", "Main",
                    ])
                #expect(report.phase("Static initialisers")?.cpuNs ?? 0 > 0)
            }
            #expect(report.program.path == program)
            #expect(report.program.arguments == [program, "argument"])
            #expect(report.phases.reduce(0) { $0 + $1.wallNs } == report.launch.wallNs)
        }

        @Test func everyReplacedProgramHasItsPhase() throws {
            let program = try Setup.fixture("groundtruth")
            let recorded = try Firstlight.record(
                ["sh", "-c", "exec env nice \"$0\"", program], in: scratch)
            let report = try recorded.json()
            let wrappers = ["Wrapper: sh", "Wrapper: env", "Wrapper: nice"]
            #expect(report.phaseNames == ["Process creation"] + wrappers + Self.dynamic)
            #expect(report.phases.filter { $0.group == "after-main" }.map(\.name) == ["Main"])
            #expect(report.program.path == program)
            // The replaced program still has its symbols.
            #expect(report.modules.contains { $0.path.hasSuffix("/nice") })
        }

        /// A thread other than the main one replaces the program; the process id stays.
        @Test(.needs("python3")) func execFromAThread() throws {
            let program = try Setup.fixture("static")
            let script = """
                import os, threading
                threading.Thread(target=lambda: os.execv("\(program)", ["\(program)"])).start()
                threading.Event().wait()
                """
            let alone = try Command([program]).run()
            let recorded = try Firstlight.record(["python3", "-c", script], in: scratch)
            #expect(recorded.finished == alone)
            let report = try recorded.json()
            #expect(report.phaseNames.suffix(2) == ["Static initialisers", "Main"])
            #expect(report.program.path == program)
            for thread in report.threads { #expect(thread.sum == thread.wallNs, "\(thread)") }
        }

        /// A link is named as it was started, not by its target; its wrapper, too.
        @Test func aLinkKeepsItsName() throws {
            let program = try Setup.fixture("static")
            try FileManager.default.createSymbolicLink(
                atPath: scratch("server"), withDestinationPath: program)
            let path = try #require(Tool.find("sh"))
            try FileManager.default.createSymbolicLink(
                atPath: scratch("starter"), withDestinationPath: path)
            let script = "exec \"$0\""
            let recorded = try Firstlight.record(
                [scratch("starter"), "-c", script, scratch("server")], in: scratch)
            let report = try recorded.json()
            #expect(report.program.name == "server")
            #expect(report.program.path == scratch("server"))
            #expect(report.phaseNames.dropFirst().first == "Wrapper: starter")
            // The file's own name is also known.
            #expect(report.modules.contains { $0.path == program })
            #expect(try recorded.text("report", ["--full"]).hasPrefix("server · "))
        }

        /// A program that is executed by syscall(2) does not call our code.
        @Test(arguments: ["execve", "execveat"]) func anExecByItsNumber(call: String) throws {
            let program = try Setup.fixture("static")
            let recorded = try Firstlight.record(
                [try Setup.fixture("numbered"), call, program], in: scratch)
            let report = try recorded.json()
            #expect(
                report.phaseNames == [
                    "Process creation", "Wrapper: numbered", "Static initialisers", "Main",
                ])
            #expect(report.launch.notes.allSatisfy { $0.kind != "late_exec" })
        }

        /// A handler jumps out of one attempt after the other. Nothing is left open, and nothing
        /// for which the next attempt would wait.
        @Test(arguments: ["signal", "ptrace"]) func attemptsThatAreLeft(capture: String) throws {
            try scratch.write("\u{7F}nothing", to: "unexecutable", mode: 0o755)
            let program = try Setup.fixture("static")
            let words = [try Setup.fixture("leaping"), scratch("unexecutable"), program]
            let recorded = try Firstlight.record(
                words, in: scratch, options: ["--capture", capture])
            #expect(recorded.finished.status == 0)
            #expect(recorded.finished.output.hasPrefix("left 200 open 0\n"))
            let report = try recorded.json()
            #expect(
                report.phaseNames == [
                    "Process creation", "Wrapper: leaping", "Static initialisers", "Main",
                ])
            #expect(report.launch.notes.allSatisfy { $0.kind != "late_exec" })
        }

        /// The next exec may be reported while the recorder still waits for the first program to
        /// begin, especially if both share one core. Once this report was dropped, and the program
        /// stood still for ever.
        @Test(.needs("taskset")) func anExecBeforeAnythingElse() throws {
            let program = try Setup.fixture("static")
            let words = [try Setup.fixture("stamp"), "/dev/null", program]
            let alone = try Command([program]).run()
            let core = try Cores.first()
            for _ in 0..<20 {
                var recording = try Firstlight.recording(
                    words, to: scratch("recording"), options: ["--quiet", "--capture", "ptrace"])
                recording.words = ["taskset", "-c", core] + recording.words
                #expect(try recording.run() == alone)
            }
        }

        /// Our memory for the next program would be larger than the limit, which would end the
        /// program by a signal, not by an error.
        @Test func anExecUnderALimitOfFileSize() throws {
            let script = "ulimit -f 20; exec \"$0\""
            let program = try Setup.fixture("static")
            let alone = try Command(["bash", "-c", script, program]).run()
            let recorded = try Firstlight.record(["bash", "-c", script, program], in: scratch)
            #expect(recorded.finished == alone)
        }

        /// A failed exec replaces nothing.
        @Test func aFailedExec() throws {
            let script = "exec 2>/dev/null; (exec /nonexistent); exec \"$0\""
            let program = try Setup.fixture("static")
            let recorded = try Firstlight.record(["sh", "-c", script, program], in: scratch)
            let phases = try recorded.json().phaseNames
            #expect(phases == ["Process creation", "Wrapper: sh", "Static initialisers", "Main"])
        }
    }
}
