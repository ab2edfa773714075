import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// A handler inside the program takes stacks, and the program must not notice.
    @Suite struct SignalCapture {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private static let options = ["--quiet"]

        private func record(_ words: [String]) throws -> Recorded {
            try Firstlight.record(
                words, in: scratch, options: Self.options,
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
        }

        @Test(arguments: [
            ["signals"], ["spin"], ["threads", "4"], ["altstack"], ["groundtruth"],
            ["forkers", "fork"], ["forkers", "vfork"], ["forkers", "spawn"], ["churn"],
            ["deep", "1000"], ["static"], ["crash", "exit", "3"],
        ])
        func outputAndStatusAreTheProgramsOwn(words: [String]) throws {
            let program = [try Setup.fixture(words[0])] + words.dropFirst()
            let alone = try Command(program).run()
            let recorded = try Firstlight.recording(
                program, to: scratch("recording"), options: Self.options
            ).run()
            #expect(recorded == alone)
        }

        @Test(.alone) func figuresAreNearTheTruth() throws {
            try Misses.afterAttempts {
                let report = try record([try Setup.fixture("groundtruth")]).json()
                #expect(report.launch.capture == "signal")
                for thread in report.threads { #expect(thread.sum == thread.wallNs) }
                let truth = try scratch.truth()
                var misses = Misses()
                misses.check("alpha", report.totalCPU(of: "burn_alpha"), truth: truth["alpha_cpu"])
                misses.check("beta", report.totalCPU(of: "burn_beta"), truth: truth["beta_cpu"])
                misses.check(
                    "thread", report.totalCPU(of: "burn_thread"), truth: truth["thread_cpu"])
                return misses
            }
        }
    }
}
