import EndToEndSupport
import Glibc
import TestSupport
import Testing

extension Measured {
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

        @Test func figuresAreNearTheTruth() throws {
            try Truth.of("capture by signals") { figures in
                let report = try record([try Setup.fixture("groundtruth")]).json()
                for thread in report.threads { #expect(thread.sum == thread.wallNs) }
                let truth = try scratch.truth()
                figures.check("alpha", report.totalCPU(of: "burn_alpha"), truth: truth["alpha_cpu"])
                figures.check("beta", report.totalCPU(of: "burn_beta"), truth: truth["beta_cpu"])
                figures.check(
                    "thread", report.totalCPU(of: "burn_thread"), truth: truth["thread_cpu"])
            }
        }
    }
}
