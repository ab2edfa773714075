import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension Measured {
    /// Recordings that end after a given time.
    @Suite struct Endings {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func report() throws -> LaunchReport {
            let finished = Finished(end: .exited(0), output: "", error: "")
            return try Recorded(path: scratch("recording"), finished: finished).json()
        }

        @Test func aRecordingMayEndBeforeItsProgram() throws {
            let program = [try Setup.fixture("spin"), "500000000"]
            try Truth.of("--duration") { figures in
                _ = try Firstlight.recording(
                    program, to: scratch("recording"), options: ["--duration", "200ms", "--quiet"]
                ).run()
                let report = try self.report()
                figures.check(
                    "duration", report.launch.wallNs, truth: 200_000_000, tolerance: 30_000_000)
            }
        }

        /// The recording ends in the constructor.
        @Test func aRecordingThatEndsBeforeMain() throws {
            let program = [try Setup.fixture("groundtruth")]
            try Truth.of("--duration in a constructor") { figures in
                _ = try Firstlight.recording(
                    program, to: scratch("recording"), options: ["--duration", "30ms", "--quiet"],
                    adding: ["FIRSTLIGHT_TRUTH": scratch("truth")]
                ).run()
                let report = try self.report()
                figures.check(
                    "duration", report.launch.wallNs, truth: 30_000_000, tolerance: 20_000_000)
                // Without a core the program has not come as far, or goes on longer than it should.
                figures.check(
                    "it ends in the constructor",
                    isSo: report.phaseNames.last == "Static initialisers")
            }
        }
    }
}
