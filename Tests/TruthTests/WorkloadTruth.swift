import EndToEndSupport
import Glibc
import TestSupport
import Testing

extension Measured {
    /// Programs that are difficult for profilers; they must end as without recording.
    @Suite struct Workloads {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// Records it, and expects the same output and status as without recording.
        private func record(
            _ fixture: String, _ arguments: String..., options: [String] = ["--quiet"]
        ) throws -> Recorded {
            let program = [try Setup.fixture(fixture)] + arguments
            let alone = try Command(program).run()
            let variables = ["FIRSTLIGHT_TRUTH": scratch("truth")]
            let recorded = try Firstlight.record(
                program, in: scratch, options: options, adding: variables)
            try #require(recorded.finished == alone)
            return recorded
        }

        private func checkStacks(_ report: LaunchReport, _ figures: inout Truth) {
            figures.check("stacks are whole", isSo: report.launch.stacksAreWhole)
        }

        /// Unwinding without frame pointers.
        @Test func codeWithoutFramePointers() throws {
            try Truth.of("workload: no frame pointers") { figures in
                checkStacks(try record("noframes", "500000").json(), &figures)
            }
        }

        @Test func aHandlerOnAnAlternateStack() throws {
            try Truth.of("workload: alternate stack") { figures in
                let recorded = try record("altstack")
                let report = try recorded.json()
                checkStacks(report, &figures)
                let truth = try scratch.truth()
                let folded = try recorded.folded()
                figures.check(
                    "handler", folded.nanoseconds(through: "burn_in_handler"),
                    truth: truth["handler_cpu"])
                // The handler interrupted the loop, and its stack shows this.
                figures.check(
                    "interrupted",
                    folded.nanoseconds(through: "interrupted_loop", "burn_in_handler"),
                    truth: truth["handler_cpu"])
            }
        }

        @Test func deepRecursion() throws {
            try Truth.of("workload: deep recursion") { figures in
                let recorded = try record("deep", "1000")
                let report = try recorded.json()
                checkStacks(report, &figures)
                let truth = try scratch.truth()["bottom_cpu"]
                figures.check("bottom", report.totalCPU(of: "burn_at_bottom"), truth: truth)
                // The function counts once, however often it is in the stack.
                figures.check("recursion", report.totalCPU(of: "descend"), truth: truth)
            }
        }

        @Test func codeWithoutUnwindRules() throws {
            try Truth.of("workload: no unwind rules") { figures in
                let recorded = try record("nocfi")
                let truth = try scratch.truth()
                let folded = try recorded.folded()
                figures.check(
                    "framed", folded.nanoseconds(through: "main", "framed_without_cfi"),
                    truth: truth["framed_cpu"])
                figures.check(
                    "both", folded.nanoseconds(through: "main", "leaf_without_cfi"),
                    truth: truth["leaf_cpu"].flatMap { leaf in
                        truth["framed_cpu"].map { leaf + $0 }
                    })
            }
        }

        @Test func inlinedFunctions() throws {
            try Truth.of("workload: inlined functions") { figures in
                let report = try record("inlined").json()
                let truth = try scratch.truth()["outer_cpu"]
                for function in ["outer", "middle", "inner_loop"] {
                    figures.check(function, report.totalCPU(of: function), truth: truth)
                }
            }
        }

        @Test func threadsAtOnce() throws {
            try Truth.of("workload: threads at once") { figures in
                let report = try record("threads").json()
                checkStacks(report, &figures)
                figures.check(
                    "work", report.totalCPU(of: "work"), truth: try scratch.truth()["threads_cpu"])
            }
        }

        /// So many threads that sampling them all takes longer than a tick. Stacks are rare, and
        /// the last moments of each thread are missing, but the sum of their CPU times is exact.
        @Test func moreThreadsThanTicksCanServe() throws {
            try Truth.of("workload: forty threads") { figures in
                let report = try record("threads", "40", "3000000").json()
                checkStacks(report, &figures)
                for thread in report.threads { #expect(thread.sum == thread.wallNs) }
                let workers = report.threads.filter { $0.tid != report.program.pid }
                // Each lives for some ten milliseconds, in which the recorder may have no core.
                figures.check(
                    "threads seen", Double(workers.count), unit: "", truth: 40, least: 40, most: 40)
                // Starting and ending threads takes additional time, ~50 us each.
                figures.check(
                    "threads",
                    workers.reduce(0) { $0 + $1.runningNs } + report.launch.unseenCPU,
                    truth: try scratch.truth()["threads_cpu"], floor: 40 * 150_000)
            }
        }

        /// Computing threads are sampled by signals, and such a signal may meet the first call in which
        /// the thread waits. Our code restarts it.
        @Test func theFirstCallAfterLongWork() throws {
            try Truth.of("calls after long work") { figures in
                try checkInterruptions(
                    ["30", "3", "8"], options: ["--frequency", "10000"], most: 0, &figures)
            }
        }

        /// A stop ends some blocking calls early, so blocked threads are not stopped. But a stop may hit
        /// a thread on its way into a call: 2 % at most.
        @Test func blockingCalls() throws {
            try Truth.of("blocking calls") { figures in
                try checkInterruptions(["50", "5"], options: ["--quiet"], most: 7, &figures)
            }
        }

        private func checkInterruptions(
            _ words: [String], options: [String], most: Double, _ figures: inout Truth
        ) throws {
            let program = [try Setup.fixture("eintr")] + words
            let recorded = try Firstlight.record(program, in: scratch, options: options)
            let counts = recorded.finished.output.split(separator: "\n")
                .compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }
            try #require(counts.count == 7)
            figures.check(
                "interrupted", counts.reduce(0, +), unit: "calls", truth: 0, most: most)
        }
    }
}
