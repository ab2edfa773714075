import TestSupport
import Testing

extension EndToEnd {
    /// Work that the program itself measured, by its threads' own clocks.
    @Suite struct GroundTruth {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func record() throws -> Recorded {
            try Firstlight.record(
                [try Setup.fixture("groundtruth")], in: scratch,
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
        }

        @Test(.alone) func cpuTimesAreNearTheTruth() throws {
            try Misses.afterAttempts {
                let recorded = try record()
                let report = try recorded.json()
                let truth = try scratch.truth()
                let initialisers = try recorded.folded("--phase", "Static initialisers")
                var misses = Misses()
                misses.check(
                    "constructor", initialisers.nanoseconds(through: "burn_in_constructor"),
                    truth: truth["constructor_cpu"])
                misses.check(
                    "alpha", report.totalCPU(of: "burn_alpha"), truth: truth["alpha_cpu"])
                misses.check("beta", report.totalCPU(of: "burn_beta"), truth: truth["beta_cpu"])
                misses.check(
                    "thread", report.totalCPU(of: "burn_thread"), truth: truth["thread_cpu"])
                misses.check(
                    "main thread", report.mainThread?.runningNs, truth: truth["main_thread_cpu"])
                let second = report.threads.first { $0.tid != report.program.pid }
                misses.check("second thread", second?.runningNs, truth: truth["thread_cpu"])
                return misses
            }
        }

        /// A computing thread is seen at nearly every tick that was served. (Once it was taken for
        /// blocked if it got its core back during a sample, and this lasted.) In one launch, other
        /// work may have its core for long.
        @Test(.alone) func aBusyThreadIsNeverLostSightOf() throws {
            var (slices, ticks) = (0, 0)
            for _ in 0..<20 {
                let launch = try Firstlight.record([try Setup.fixture("spin")], in: scratch)
                    .json().launch
                slices += launch.slices
                ticks += launch.ticks
            }
            #expect(slices * 3 > ticks * 2, "\(slices) at \(ticks) ticks")
        }

        @Test(.alone) func waitsAreNearTheTruth() throws {
            try Misses.afterAttempts {
                let recorded = try record()
                let wall = try recorded.folded("--weight", "wall")
                let blocked = try recorded.folded("--weight", "blocked")
                let truth = try scratch.truth()
                var misses = Misses()
                misses.check(
                    "sleep", wall.nanoseconds(through: "known_sleep"), truth: truth["sleep_wall"])
                misses.check(
                    "sleeping", blocked.nanoseconds(through: "known_sleep", "[sleep]"),
                    truth: truth["sleep_wall"])
                misses.check(
                    "join", wall.nanoseconds(through: "run_and_join_thread"),
                    truth: truth["join_wall"])
                misses.check(
                    "main", try recorded.json().phase("Main")?.wallNs, truth: truth["main_wall"])
                return misses
            }
        }

        @Test func everythingAddsUpExactly() throws {
            let report = try record().json()
            #expect(
                report.phaseNames == [
                    "Process creation", "Dynamic linking", "Static initialisers", "Main",
                ])
            #expect(report.phases.reduce(0) { $0 + $1.wallNs } == report.launch.wallNs)
            #expect(report.phases.reduce(0) { $0 + $1.cpuNs } == report.launch.cpuNs)
            var start: Int64 = 0
            for phase in report.phases {
                #expect(phase.startNs == start)
                #expect(phase.wallNs > 0)
                #expect(phase.mainThread.sum <= phase.wallNs)
                start += phase.wallNs
            }
            #expect(report.threads.count == 2)
            for thread in report.threads {
                #expect(thread.sum == thread.wallNs, "\(thread)")
                #expect(thread.startNs >= 0 && thread.endNs <= report.launch.wallNs)
            }
            #expect(report.functions.reduce(0) { $0 + $1.selfCpuNs } == report.launch.cpuNs)
            #expect(report.threads.reduce(0) { $0 + $1.runningNs } == report.launch.cpuNs)
            #expect(report.program.exitStatus == 0)
            #expect(report.launch.lostSamples == 0)
        }

        /// The function, library and line of the constructor, and of the wait.
        @Test func theSummaryNamesWhatTookTheTime() throws {
            let recorded = try record()
            let text = try recorded.text("report", columns: 160)
            #expect(text.contains(#/burn_in_constructor +groundtruth +groundtruth\.c:\d+/#))
            #expect(text.contains(#/burn_alpha +groundtruth +groundtruth\.c:\d+/#))
            // It depends on the machine which of the two waits is longer.
            let waits = #/(known_sleep|run_and_join_thread) +groundtruth +groundtruth\.c:\d+/#
            #expect(text.contains(waits))
            let report = try recorded.json()
            let stack = report.phase("Static initialisers")?.heaviestStack ?? []
            let frame = stack.last { $0.own }
            #expect(frame?.function == "burn_in_constructor")
            #expect(frame?.file?.hasSuffix("groundtruth.c") == true)
        }
    }
}
