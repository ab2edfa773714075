import EndToEndSupport
import TestSupport
import Testing

extension Measured {
    /// One program, linked in every possible way.
    @Suite struct Linking {
        private static let dynamic = [
            "Process creation", "Dynamic linking", "Static initialisers", "Main",
        ]

        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func record(_ variant: String) throws -> LaunchReport {
            try Firstlight.record(
                [try Setup.fixture(variant)], in: scratch,
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth")]
            ).json()
        }

        @Test(
            arguments: [
                ("static", dynamic.filter { $0 != "Dynamic linking" }),
                ("static-pie", dynamic.filter { $0 != "Dynamic linking" }),
                ("no-pie", dynamic), ("stripped", dynamic),
            ])
        func phasesAreFound(variant: String, phases: [String]) throws {
            try Truth.of("linking: \(variant)") { figures in
                let report = try record(variant)
                let truth = try scratch.truth()
                figures.check(
                    "initialisers", report.phase("Static initialisers")?.cpuNs,
                    truth: truth["constructor_cpu"])
                figures.check("main", report.phase("Main")?.cpuNs, truth: truth["burn_cpu"])
            }
        }
    }
}
