import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// Wayland's windows, on the test's own compositor.
    @Suite(.needs("weston"), .needs("python3")) struct Wayland {
        private let scratch: Scratch
        private let compositor: VirtualCompositor

        init() throws {
            scratch = try Scratch()
            compositor = try VirtualCompositor()
        }

        private func record(
            _ program: [String], until condition: String, options: [String] = []
        ) throws -> Command {
            let variables = ["FIRSTLIGHT_TRUTH": scratch("truth"), "HOME": scratch.folder]
            return try Firstlight.recording(
                program, to: scratch("recording"),
                options: ["--quiet", "--until", condition] + options,
                adding: compositor.variables.merging(variables) { $1 })
        }

        /// Nothing of a relay is left: it ends with its program.
        private func expectNothingLeft() throws {
            try Proc.waitUntil("the relay's end") {
                compositor.folder.names.allSatisfy { !$0.hasPrefix("firstlight-") }
            }
        }

        /// The fixture notes the time just before.
        @Test(
            arguments: [
                ("window", "plain", "asked_at"),
                ("frame", "plain", "commit_at"),
                ("frame", "child", "commit_at"),
                ("frame", "second", "commit_at"),
            ])
        func theMoment(condition: String, how: String, first: String) throws {
            // The fixture's status says that its connections have outlived the recording.
            let child = try record(
                [try Setup.fixture("surface"), how], until: condition,
                options: ["--after", "keep"]
            ).start()
            let truth = try Proc.waitFor("the picture") { try? scratch.truth()["shown_at"] }
            #expect(truth > 0)
            let pid = try Proc.recordedProgram(
                of: child.pid, running: try Setup.fixture("surface"))
            try Proc.waitUntil("the recording's end") { Proc.onlyWaits(child.pid) }
            kill(pid, SIGTERM)
            let result = try child.finish()
            #expect(result.status == 3, "\(result)")
            let ready = try #require(try StoredReadiness(of: scratch("recording")))
            #expect(ready.condition == condition)
            let figures = try scratch.truth()
            #expect(ready.nanoseconds >= (figures[first] ?? .max))
            try expectNothingLeft()
        }

        /// The program is stopped at its first frame, as with any other condition.
        @Test func aStop() throws {
            let result = try record([try Setup.fixture("surface")], until: "frame").run()
            #expect(result.status == 0, "\(result)")
            #expect(result.error.contains("ready (frame)"))
            try expectNothingLeft()
        }

        @Test func aProgramThatShowsNothing() throws {
            let result = try record(
                [try Setup.fixture("surface"), "roundtrips", "100"], until: "frame"
            ).run()
            #expect(result.status == 0, "\(result)")
            #expect(result.error.contains("ended before it was ready (frame)"))
            #expect(try StoredReadiness(of: scratch("recording")) == nil)
            try expectNothingLeft()
        }

        /// Whatever happens to the recorder, the program keeps its display, and can connect again.
        @Test func aRecorderThatIsKilled() throws {
            let program = try Setup.fixture("surface")
            // It is not ready before the recorder is killed, because it waits for a line.
            let script = "read line; exec \"$0\" plain"
            let input = try Channel()
            var command = try record(["sh", "-c", script, program], until: "frame")
            command.input = .descriptor(input.reader)
            let recorder = try command.start()
            let shell = try Proc.waitFor("the program") {
                Proc.children(of: recorder.pid).first {
                    Proc.contents("/proc/\($0)/cmdline")?.hasPrefix("sh\0-c") == true
                }
            }
            kill(recorder.pid, SIGKILL)
            #expect(recorder.waitUntilEnded())
            try input.write("on\n")
            // It finds the compositor at the same place.
            _ = try Proc.waitFor("the picture") { try? scratch.truth()["shown_at"] }
            kill(shell, SIGTERM)
            try expectNothingLeft()
        }

        /// Debian's programs with the toolkits.
        @Test(arguments: [["mousepad", "--disable-server"], ["featherpad", "--standalone"]])
        func toolkits(program: [String]) throws {
            guard Tool.isExpected(program[0]) else {
                try Setup.skip("\(program[0]) is not installed")
            }
            var command = try record(program, until: "frame", options: ["--watchdog", "50s"])
            command.environment.merge(["GDK_BACKEND": "wayland", "QT_QPA_PLATFORM": "wayland"]) {
                $1
            }
            let result = try command.run()
            #expect(result.status == 0, "\(result)")
            #expect(try StoredReadiness(of: scratch("recording"))?.condition == "frame")
            try expectNothingLeft()
        }

        /// A running program is already connected.
        @Test(arguments: ["window", "frame"]) func attaching(condition: String) throws {
            let program = try Command(["sleep", "1000"]).start()
            let refused = try Firstlight.command(
                ["attach", "--quiet", "-o", scratch("recording"), "--until", condition]
                    + [String(program.pid)], adding: compositor.variables
            ).run()
            #expect(refused.isRefusal(125, mentioning: "'\(condition)'", "on Wayland only"))
        }

        @Test func aCompositorThatIsNotThere() throws {
            var command = try record(["touch", scratch("touched")], until: "frame")
            command.environment["WAYLAND_DISPLAY"] = "wayland-none"
            let refused = try command.run()
            #expect(refused.isRefusal(125, mentioning: "no Wayland compositor", "wayland-none"))
            #expect(!scratch.has("touched"))
        }
    }
}
