import EndToEndSupport
import TestSupport
import Testing

extension Measured {
    /// Work that the program itself measured, by its threads' own clocks.
    @Suite struct GroundTruth {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func record() throws -> Recorded {
            try Firstlight.record(
                [try Setup.fixture("groundtruth")], in: scratch,
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
        }

        @Test func cpuTimesAreNearTheTruth() throws {
            try Truth.of("CPU times") { figures in
                let recorded = try record()
                let report = try recorded.json()
                let truth = try scratch.truth()
                let initialisers = try recorded.folded("--phase", "Static initialisers")
                figures.check(
                    "constructor", initialisers.nanoseconds(through: "burn_in_constructor"),
                    truth: truth["constructor_cpu"])
                figures.check(
                    "alpha", report.totalCPU(of: "burn_alpha"), truth: truth["alpha_cpu"])
                figures.check("beta", report.totalCPU(of: "burn_beta"), truth: truth["beta_cpu"])
                figures.check(
                    "thread", report.totalCPU(of: "burn_thread"), truth: truth["thread_cpu"])
                figures.check(
                    "main thread", report.mainThread?.runningNs, truth: truth["main_thread_cpu"])
                let second = report.threads.first { $0.tid != report.program.pid }
                figures.check("second thread", second?.runningNs, truth: truth["thread_cpu"])
            }
        }

        @Test func waitsAreNearTheTruth() throws {
            try Truth.of("wall times") { figures in
                let recorded = try record()
                let wall = try recorded.folded("--weight", "wall")
                let blocked = try recorded.folded("--weight", "blocked")
                let truth = try scratch.truth()
                figures.check(
                    "sleep", wall.nanoseconds(through: "known_sleep"), truth: truth["sleep_wall"])
                figures.check(
                    "sleeping", blocked.nanoseconds(through: "known_sleep", "[sleep]"),
                    truth: truth["sleep_wall"])
                figures.check(
                    "join", wall.nanoseconds(through: "run_and_join_thread"),
                    truth: truth["join_wall"])
                figures.check(
                    "main", try recorded.json().phase("Main")?.wallNs, truth: truth["main_wall"])
            }
        }

        /// A computing thread is seen at nearly every tick that was served. (Once it was taken for blocked
        /// if it got its core back during a sample, and this lasted.)
        @Test func aBusyThreadIsNeverLostSightOf() throws {
            try Truth.of("a busy thread") { figures in
                var (slices, ticks) = (0, 0)
                for _ in 0..<20 {
                    let launch = try Firstlight.record([try Setup.fixture("spin")], in: scratch)
                        .json().launch
                    slices += launch.slices
                    ticks += launch.ticks
                }
                figures.check(
                    "seen", 100 * Double(slices) / Double(max(1, ticks)), unit: "% of ticks",
                    truth: 100, least: 100 * 2 / 3)
            }
        }

        @Test func nothingIsLost() throws {
            try Truth.of("lost samples") { figures in
                let launch = try record().json().launch
                figures.check(
                    "lost", Double(launch.lostSamples), unit: "samples", truth: 0, most: 0)
            }
        }

        /// Stacks of programs that are hard to unwind.
        @Test(arguments: ["noframes", "nocfi", "threads", "spin", "inlined", "static", "stripped"])
        func stacks(fixture: String) throws {
            try Truth.of("stacks: \(fixture)") { figures in
                let launch = try Firstlight.record([try Setup.fixture(fixture)], in: scratch)
                    .json().launch
                figures.check(
                    "whole",
                    100 * Double(launch.slices - launch.truncatedStacks)
                        / Double(max(1, launch.slices)), unit: "%", truth: 100,
                    least: launch.truncatedStacks <= 3 ? 0 : 98)
            }
        }
    }
}
