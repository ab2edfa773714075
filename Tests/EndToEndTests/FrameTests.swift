import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// The first drawing into an X11 window, on the test's own server.
    @Suite(.needs("Xvfb"), .needs("python3")) struct Frames {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// Checks the moment when the fixture `frame`, showing its window in this way, was ready.
        private func check(_ how: String, on screen: VirtualScreen) throws {
            let result = try Firstlight.recording(
                [try Setup.fixture("frame"), how], to: scratch("recording"),
                options: ["--quiet", "--until", "frame"],
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth"), "DISPLAY": screen.display]
            ).run()
            #expect(result.status == 0, "\(result)")
            let ready = try #require(try StoredReadiness(of: scratch("recording")))
            #expect(ready.condition == "frame")
            let truth = try scratch.truth()
            let drawAt = try #require(truth["draw_at"])
            // The server's own painting came before, and must not count.
            #expect(ready.nanoseconds >= drawAt)
        }

        /// What the server paints by itself does not count.
        @Test(arguments: ["plain", "bare", "child", "resized", "hidden"])
        func theFirstDrawing(how: String) throws { try check(how, on: VirtualScreen()) }

        /// Mapped and drawn into at once.
        @Test func atOnce() throws {
            let screen = try VirtualScreen()
            let result = try Firstlight.recording(
                [try Setup.fixture("frame"), "at-once"], to: scratch("recording"),
                options: ["--quiet", "--until", "frame"],
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth"), "DISPLAY": screen.display]
            ).run()
            #expect(result.status == 0, "\(result)")
            let ready = try #require(try StoredReadiness(of: scratch("recording")))
            let mapAt = try #require(try scratch.truth()["map_at"])
            #expect(ready.nanoseconds >= mapAt)
        }

        /// Without the extension Damage, whole pictures are seen.
        @Test func pictures() throws {
            try check("presented", on: VirtualScreen(["-extension", "DAMAGE"]))
        }

        @Test func both() throws {
            let screen = try VirtualScreen()
            let result = try Firstlight.recording(
                [try Setup.fixture("frame")], to: scratch("recording"),
                options: ["--quiet", "--until", "frame", "--until", "window"],
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth"), "DISPLAY": screen.display]
            ).run()
            #expect(result.status == 0, "\(result)")
            #expect(try StoredReadiness(of: scratch("recording"))?.condition == "window")
        }

        /// A window that already shows something when we attach is enough.
        @Test func aProgramThatRunsAlready() throws {
            let screen = try VirtualScreen()
            let program = try Command(
                [try Setup.fixture("frame")],
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth"), "DISPLAY": screen.display]
            ).start()
            _ = try Proc.waitFor("the drawing") { try? scratch.truth()["drawn_at"] }
            let result = try Firstlight.command(
                ["attach", "--quiet", "-o", scratch("recording"), "--until", "frame"]
                    + [String(program.pid)], adding: ["DISPLAY": screen.display]
            ).run()
            #expect(result.status == 0, "\(result)")
            #expect(try StoredReadiness(of: scratch("recording"))?.condition == "frame")
            kill(program.pid, SIGTERM)
            #expect(try program.finish().status == 3)
        }

        /// Debian's programs with the toolkits.
        @Test(arguments: [["mousepad", "--disable-server"], ["featherpad", "--standalone"]])
        func toolkits(program: [String]) throws {
            guard Tool.isExpected(program[0]) else {
                try Setup.skip("\(program[0]) is not installed")
            }
            let screen = try VirtualScreen()
            let result = try Firstlight.recording(
                program, to: scratch("recording"),
                options: ["--quiet", "--until", "frame", "--watchdog", "50s"],
                adding: ["DISPLAY": screen.display, "HOME": scratch.folder]
            ).run()
            #expect(result.status == 0, "\(result)")
            #expect(try StoredReadiness(of: scratch("recording"))?.condition == "frame")
        }

        @Test func withoutADisplay() throws {
            let refused = try Firstlight.recording(
                ["touch", scratch("touched")], to: scratch("recording"),
                options: ["--quiet", "--until", "frame"]
            ).run()
            #expect(
                refused.isRefusal(
                    125, mentioning: "'frame'", "DISPLAY is not set, nor is WAYLAND_DISPLAY"))
            #expect(!scratch.has("touched"))
        }
    }
}
