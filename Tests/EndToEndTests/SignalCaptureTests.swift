import EndToEndSupport
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

        @Test func functionsAreFound() throws {
            let report = try record([try Setup.fixture("groundtruth")]).json()
            #expect(report.launch.capture == (report.launch.isUnmapped ? "ptrace" : "signal"))
            for thread in report.threads { #expect(thread.sum == thread.wallNs) }
            for function in ["burn_alpha", "burn_beta", "burn_thread"] {
                #expect(
                    report.totalCPU(of: function) > 0 || report.launch.isHardlySeen, "\(function)")
            }
        }
    }
}
