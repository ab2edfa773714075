import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension Measured {
    /// Launch scripts that become the real program: one recording, with a phase for each program.
    @Suite struct Wrappers {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        @Test func aScriptThatExecs() throws {
            let program = try Setup.fixture("static")
            try Truth.of("a script that execs") { figures in
                let recorded = try Firstlight.record(
                    [try Setup.fixture("wrapper.sh"), program, "argument"], in: scratch,
                    adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
                let report = try recorded.json()
                let truth = try scratch.truth()
                figures.check(
                    "initialisers", report.phase("Static initialisers")?.cpuNs,
                    truth: truth["constructor_cpu"])
            }
        }
    }
}
