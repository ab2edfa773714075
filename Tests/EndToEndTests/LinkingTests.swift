import EndToEndSupport
import TestSupport
import Testing

extension EndToEnd {
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
            let report = try record(variant)
            #expect(report.phaseNames == phases)
            #expect(report.phases.reduce(0) { $0 + $1.wallNs } == report.launch.wallNs)
            #expect(report.launch.mostStacksAreWhole, "\(report.launch)")
        }

        /// The program is over before anybody has read its mappings, and sometimes shares one core
        /// with the recorder. But the place of its code is known.
        @Test(arguments: ["moment", "moment-static", "moment-no-pie"])
        func oneThatIsOverAtOnce(variant: String) throws {
            let core = try Cores.first()
            var truncated = 0
            for _ in 0..<12 {
                var command = try Firstlight.recording(
                    [try Setup.fixture(variant)], to: scratch("recording"))
                command.words = ["taskset", "-c", core, "nice", "-n", "5"] + command.words
                let finished = try command.run()
                try #require(finished.status == 7)
                let report = try Recorded(path: scratch("recording"), finished: finished).json()
                truncated += report.launch.truncatedStacks
            }
            // If the kernel could not read a stack, this has nothing to do with the place of the
            // code. Without the place, every launch has such a stack.
            #expect(truncated <= 6)
        }

        /// Functions without a name are shown as places in their file, never by a neighbour's name.
        @Test func strippedFunctionsAreNotMisnamed() throws {
            let report = try record("stripped")
            let own = report.functions.filter { $0.module == "stripped" }
            #expect(!own.isEmpty)
            for function in own {
                #expect(function.function.hasPrefix("stripped+0x"), "\(function.function)")
            }
        }
    }
}
