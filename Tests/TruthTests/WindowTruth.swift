import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension Measured {
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
            try Truth.of("window") { figures in
                let result = try Firstlight.recording(
                    [try Setup.fixture("window")], to: scratch("recording"),
                    options: ["--quiet", "--until", "window"],
                    adding: ["FIRSTLIGHT_TRUTH": scratch("truth"), "DISPLAY": display]
                ).run()
                try #require(result.status == 0, "\(result)")
                let ready = try #require(try StoredReadiness(of: scratch("recording")))
                let truth = try scratch.truth()
                let (asked, heard) = (truth["map_at"] ?? 0, truth["mapped_at"] ?? 0)
                figures.check(
                    "after the request", ready.nanoseconds - asked,
                    isIn: 0...(heard - asked + 5_000_000))
            }
        }
    }
}
