import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension Measured {
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

        /// The fixture notes the time just after.
        @Test(
            arguments: [
                ("window", "plain", "configured_at"),
                ("frame", "plain", "shown_at"),
                ("frame", "child", "shown_at"),
                ("frame", "second", "shown_at"),
            ])
        func theMoment(condition: String, how: String, last: String) throws {
            try Truth.of("wayland \(condition): \(how)") { figures in
                // The fixture's status says that its connections have outlived the recording.
                let child = try record(
                    [try Setup.fixture("surface"), how], until: condition,
                    options: ["--after", "keep"]
                ).start()
                _ = try Proc.waitFor("the picture") { try? scratch.truth()["shown_at"] }
                let pid = try Proc.recordedProgram(
                    of: child.pid, running: try Setup.fixture("surface"))
                try Proc.waitUntil("the recording's end") { Proc.onlyWaits(child.pid) }
                kill(pid, SIGTERM)
                _ = try child.finish()
                let ready = try #require(try StoredReadiness(of: scratch("recording")))
                let truth = try scratch.truth()
                let late = ready.nanoseconds - (truth[last] ?? 0)
                figures.check("late", late, isIn: -1_000_000_000...5_000_000)
            }
        }
    }
}
