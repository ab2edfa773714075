import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// X11 windows, on the test's own server.
    @Suite(.needs("Xvfb"), .needs("python3")) struct Windows {
        private let scratch: Scratch
        private let screen: VirtualScreen
        private var display: String { screen.display }

        init() throws {
            scratch = try Scratch()
            screen = try VirtualScreen()
        }

        @Test func theFirstThatIsMapped() throws {
            let result = try Firstlight.recording(
                [try Setup.fixture("window")], to: scratch("recording"),
                options: ["--quiet", "--until", "window"],
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth"), "DISPLAY": display]
            ).run()
            #expect(result.status == 0, "\(result)")
            let ready = try #require(try StoredReadiness(of: scratch("recording")))
            #expect(ready.condition == "window")
            let truth = try scratch.truth()
            #expect(ready.nanoseconds >= (truth["map_at"] ?? .max))
        }

        /// A window of another program does not count.
        @Test func anothersWindow() throws {
            let child = try Firstlight.recording(
                [try Setup.fixture("ready"), "idle"], to: scratch("recording"),
                options: ["--quiet", "--until", "window"],
                adding: ["DISPLAY": display, "FIRSTLIGHT_TRUTH": scratch("truth")]
            ).start()
            _ = try Proc.waitFor("the program") { try? scratch.truth()["ready_at"] }
            var other = Command(
                [try Setup.fixture("window")],
                adding: ["DISPLAY": display, "FIRSTLIGHT_TRUTH": scratch("other")])
            other.output = nil
            let client = try other.start()
            _ = try Proc.waitFor("the other window") { try? scratch.truth("other")["mapped_at"] }
            let program = try Setup.fixture("ready")
            let pid = try Proc.recordedProgram(of: child.pid, running: program)
            kill(pid, SIGTERM)
            let result = try child.finish()
            #expect(result.status == 3, "\(result)")
            #expect(result.error.contains("ended before it was ready (window)"))
            kill(client.pid, SIGTERM)
            #expect(try client.finish().status == 3)
        }
    }
}
