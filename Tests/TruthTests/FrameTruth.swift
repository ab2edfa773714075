import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension Measured {
    /// The first drawing into an X11 window, on the test's own server.
    @Suite(.needs("Xvfb"), .needs("python3")) struct Frames {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// Checks the moment when the fixture `frame`, showing its window in this way, was ready.
        private func check(_ how: String, on screen: VirtualScreen) throws {
            try Truth.of("frame: \(how)") { figures in
                let result = try Firstlight.recording(
                    [try Setup.fixture("frame"), how], to: scratch("recording"),
                    options: ["--quiet", "--until", "frame"],
                    adding: ["FIRSTLIGHT_TRUTH": scratch("truth"), "DISPLAY": screen.display]
                ).run()
                try #require(result.status == 0, "\(result)")
                let ready = try #require(try StoredReadiness(of: scratch("recording")))
                let truth = try scratch.truth()
                let late = ready.nanoseconds - (truth["drawn_at"] ?? 0)
                // A picture is presented at the screen's next refresh.
                let limit: Int64 = how == "presented" ? 50_000_000 : 5_000_000
                figures.check("late", late, isIn: -1_000_000_000...limit)
            }
        }

        /// What the server paints by itself does not count.
        @Test(arguments: ["plain", "bare", "child", "resized", "hidden"])
        func theFirstDrawing(how: String) throws { try check(how, on: VirtualScreen()) }

        /// Without the extension Damage, whole pictures are seen.
        @Test func pictures() throws {
            try check("presented", on: VirtualScreen(["-extension", "DAMAGE"]))
        }
    }
}
