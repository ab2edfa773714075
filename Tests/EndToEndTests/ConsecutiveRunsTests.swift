import EndToEndSupport
import TestSupport
import Testing

extension EndToEnd {
    /// Many runs, to find rare failures.
    @Suite struct ConsecutiveRuns {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        @Test func twoHundredShortLaunches() throws {
            let program = [try Setup.fixture("brief")]
            let alone = try Command(program).run()
            #expect(alone.status == 7)
            let path = scratch("recording")
            for run in 1...200 {
                let recorded = try Firstlight.recording(
                    program, to: path, options: ["--quiet"] + Firstlight.defaultCapture
                ).run()
                #expect(recorded == alone, "run \(run)")
                let report = try Recorded(path: path, finished: recorded).json()
                #expect(report.program.exitStatus == 7, "run \(run)")
                #expect(report.phaseNames.last == "Main", "run \(run)")
                #expect(report.brokenSums.isEmpty, "run \(run)")
            }
        }
    }
}
