import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    private static var mayUnshareTime: Bool {
        let command = Command(["unshare", "--time", "--monotonic", "-5", "--fork", "true"])
        return (try? command.run().status) == 0
    }

    private static var mayUnshare: Bool {
        let command = Command(["unshare", "--mount", "--pid", "--fork", "true"])
        return (try? command.run().status) == 0
    }

    /// Programs in namespaces of their own, as in a container: they know themselves by other ids
    /// than ours, and have their files elsewhere.
    @Suite(
        .needsRoot, .needs("unshare"),
        .requires(EndToEnd.mayUnshare, "namespaces are not allowed here"))
    struct Containers {
        private let scratch: Scratch
        /// The folder that is `/tmp` in the container.
        private let temporary: String

        init() throws {
            scratch = try Scratch()
            temporary = scratch("tmp")
            try FileManager.default.createDirectory(
                atPath: temporary, withIntermediateDirectories: false)
        }

        /// The program with a `/tmp` of its own, in which this project still is where it was.
        private func apart(_ options: [String], _ words: [String]) -> [String] {
            let script = """
                case $PWD in /tmp/?*)
                    top=${PWD#/tmp/} top=${top%%/*}
                    mkdir "$0/$top" && mount --bind "/tmp/$top" "$0/$top" || exit
                esac
                mount --rbind "$0" /tmp && exec "$@"
                """
            return ["unshare", "--mount"] + options + ["sh", "-c", script, temporary] + words
        }

        private func contained(_ words: [String]) -> [String] {
            apart(["--pid", "--fork"], words)
        }

        private func record(_ words: [String], _ options: String...) throws -> Recorded {
            try Firstlight.record(
                words, in: scratch, options: ["--quiet", "--follow-children"] + options)
        }

        private func expectNames(in folded: Folded) {
            let named = folded.nanoseconds(through: "call", "made_at_run_time")
            #expect(named * 2 > folded.total * 1000, "\(folded.lines)")
        }

        @Test func generatedCodeIsNamed() throws {
            let program = [try Setup.fixture("jitted"), "100"]
            let folded = try record(contained(program)).folded("--no-phase", "--no-thread")
            expectNames(in: folded)
        }

        /// It was mapped before the program was given another `/tmp`, and the process is the
        /// recorded one itself.
        @Test func generatedCodeOfTheProgramItself() throws {
            let program = [try Setup.fixture("jitted"), "100"]
            let folded = try Firstlight.record(apart([], program), in: scratch)
                .folded("--no-phase", "--no-thread")
            expectNames(in: folded)
        }

        /// Only its ids are other than ours.
        @Test func generatedCodeWithTheRecordersFiles() throws {
            let recording = try Firstlight.recording(
                ["unshare", "--pid", "--fork", try Setup.fixture("jitted"), "100"],
                to: "/tmp/recording", options: ["--quiet", "--follow-children"])
            let finished = try Command(apart([], recording.words)).run()
            #expect(finished.status == 0, "\(finished.error)")
            let folded = try Recorded(path: temporary + "/recording", finished: finished)
                .folded("--no-phase", "--no-thread")
            expectNames(in: folded)
        }

        @Test func attaching() throws {
            let (input, output) = (try Channel(), try Channel())
            var command = Command(contained([try Setup.fixture("jitted")]))
            command.input = .descriptor(input.reader)
            command.output = output.writer
            let child = try command.start()
            output.closeWriter()
            #expect(try output.line() == "ready")
            let children = Proc.contents("/proc/\(child.pid)/task/\(child.pid)/children")
            let pid = try #require(children?.split(separator: " ").first.map(String.init))
            let path = scratch("recording")
            let finished = try Firstlight.command(
                ["attach", "-o", path, "--quiet", "--duration", "200ms", pid]
            ).run()
            #expect(finished.status == 0, "\(finished.error)")
            let folded = try Recorded(path: path, finished: finished)
                .folded("--no-phase", "--no-thread")
            expectNames(in: folded)
            input.closeWriter()
            #expect(try child.finish().status == 0)
        }

        /// JavaScript has its names and the sources that it was compiled from; the map that it was
        /// asked for is gone.
        @Test(.needs("node")) func node() throws {
            let script = """
                function a(n) { let x = 0; for (let i = 0; i < n; i++) x = (x + i * i) % 7; return x }
                for (let i = 0; i < 40; i++) a(1e6)
                //# sourceMappingURL=data:application/json;base64,
                """
            let map = #"{"version":3,"sources":["written.ts"],"names":[],"mappings":"AAAA"}"#
            try scratch.write(
                script + Data(map.utf8).base64EncodedString() + "\n", to: "tmp/app.js")
            let folded = try record(contained(["node", "/tmp/app.js"]), "--runtime", "node")
                .text("fold")
            #expect(folded.contains("a (written.ts:1)_[j]"))
            #expect(!scratch.names.contains { $0.hasSuffix(".map") })
            let left = try FileManager.default.contentsOfDirectory(atPath: temporary)
            let work = FileManager.default.currentDirectoryPath
            #expect(left.filter { !work.hasPrefix("/tmp/\($0)") } == ["app.js"])
        }

        @Test(.needs("python3")) func python() throws {
            let folded = try record(contained(ScriptedCalls.words))
                .folded("--no-phase", "--no-thread")
            #expect(folded.nanoseconds(through: "caller", "leaf") > 0)
        }

        /// The program with a root without `/proc`, through which our code in it writes to its own.
        private func withoutProc(_ words: [String]) -> [String] {
            let script = """
                mount --rbind / "$0" && umount --lazy --recursive "$0/proc" && exec chroot "$0" "$@"
                """
            return ["unshare", "--mount", "sh", "-c", script, temporary] + words
        }

        private static let divided = ["Dynamic linking", "Static initialisers", "Main"]

        @Test(arguments: ["stages", "static", "static-pie"], ["signal", "ptrace"])
        func phasesWithoutProc(program: String, capture: String) throws {
            let words = withoutProc([try Setup.fixture(program)])
            let report = try Firstlight.record(
                words, in: scratch, options: ["--capture", capture],
                adding: ["FIRSTLIGHT_TRUTH": "/dev/null"]
            ).json()
            let isDynamic = program == "stages"
            // On a busy machine our code may stay out, and the recording says so.
            let isDivided = !report.launch.isUnmapped
            let names = report.phaseNames.filter { !$0.hasPrefix("Wrapper: ") }
            let phases = isDivided ? Self.divided.dropFirst(isDynamic ? 0 : 1) : ["Not divided"]
            #expect(names == ["Process creation"] + phases)
        }

        @Test func measuringWithoutProc() throws {
            let options = ["-n", "1", "--format", "json", "-o", scratch("measured")]
            let finished = try Firstlight.command(
                ["measure"] + options + withoutProc([try Setup.fixture("stages")])
            ).run()
            let names = try MeasureReport(finished.output).summary.phases.map(\.name)
            #expect(names.suffix(3) == Self.divided, "\(finished)")
        }

        /// Signals are sent where all changes of actions pass our code.
        @Test(.needs("python3")) func pythonWithoutProc() throws {
            let recorded = try Firstlight.record(
                withoutProc(ScriptedCalls.words), in: scratch)
            let folded = try recorded.folded("--no-phase", "--no-thread")
            let within = folded.nanoseconds(through: "caller")
            #expect(within > 0 && folded.nanoseconds(through: "caller", "leaf") * 10 > within * 9)
        }

        /// Our code would note times of the program's own clock, so it stays out.
        @Test(.requires(EndToEnd.mayUnshareTime, "time namespaces are not allowed here"))
        func anotherClock() throws {
            let program = ["unshare", "--time", "--monotonic", "-5", "--fork"]
            let recorded = try record(
                program + [try Setup.fixture("constructors")], "--capture", "ptrace")
            let notes = try recorded.text("report", ["--notes"])
            #expect(notes.contains("a clock of its own"))
        }

        /// The lock knows its owner by an id of the container's.
        @Test func locks() throws {
            let report = try record(contained([try Setup.fixture("waits"), "mutex"]))
                .json(["--process", "waits"])
            let wait = try #require(report.events.first { $0.reason.kind == "lock" })
            let other = report.threads.first { $0.tid != wait.tid }
            #expect(wait.reason.ownerTid != nil && wait.reason.ownerTid == other?.tid)
        }
    }
}
