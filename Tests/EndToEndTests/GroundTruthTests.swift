import EndToEndSupport
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

        /// How much each takes is measured by `make truth`.
        @Test func everyFunctionIsFound() throws {
            let recorded = try record()
            let report = try recorded.json()
            for function in ["burn_alpha", "burn_beta", "burn_thread"] {
                #expect(report.totalCPU(of: function) > 0, "\(function)")
            }
            let initialisers = try recorded.folded("--phase", "Static initialisers")
            #expect(initialisers.nanoseconds(through: "burn_in_constructor") > 0)
            let wall = try recorded.folded("--weight", "wall")
            #expect(wall.nanoseconds(through: "run_and_join_thread") > 0)
            let blocked = try recorded.folded("--weight", "blocked")
            #expect(blocked.nanoseconds(through: "known_sleep", "[sleep]") > 0)
        }

        /// A recorder that has no core when the program begins finds the program's stacks afterwards.
        @Test func stacksBeforeALateRecorderAreKept() throws {
            let recorded = try Firstlight.record([try Setup.fixture("overlooked")], in: scratch)
            #expect(recorded.finished.status == 0)
            let initialisers = try recorded.folded("--phase", "Static initialisers")
            #expect(initialisers.nanoseconds(through: "burn_overlooked") > 0)
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
        }

        /// The function, library and line of the constructor, and of the wait.
        @Test func theSummaryNamesWhatTookTheTime() throws {
            let recorded = try record()
            let text = try recorded.text("report", ["--full"], columns: 160)
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
