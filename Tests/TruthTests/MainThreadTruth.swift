import EndToEndSupport
import TestSupport
import Testing

extension Measured {
    /// If a program's first thread only waits for another one, that one is the main thread.
    @Suite struct MainThreads {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func record(_ arguments: String...) throws -> Recorded {
            try Firstlight.record(
                [try Setup.fixture("launcher")] + arguments, in: scratch,
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
        }

        @Test func aLauncherThatOnlyJoins() throws {
            try Truth.of("main thread") { figures in
                let recorded = try record()
                let (report, truth) = (try recorded.json(), try scratch.truth())
                figures.check(
                    "is known",
                    isSo: report.launch.mainThread.contains { Int64($0.tid) == truth["program"] })
                let main = report.phase("Main")
                figures.check("CPU", main?.mainThread.runningNs, truth: truth["cpu"])
                let sleep = report.findings.first { $0.kind == "sleep" }
                figures.check("sleep", sleep?.savingNs, truth: truth["sleep"])
            }
        }
    }
}
