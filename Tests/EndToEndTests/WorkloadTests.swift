import Glibc
import TestSupport
import Testing

extension EndToEnd {
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
            #expect(recorded.finished == alone)
            return recorded
        }

        private func expectCompleteStacks(_ report: LaunchReport) {
            #expect(
                report.launch.stacksAreWhole,
                "\(report.launch.truncatedStacks) of \(report.launch.slices) are truncated")
        }

        @Test(.alone) func aHandlerOnAnAlternateStack() throws {
            try Misses.afterAttempts {
                let recorded = try record("altstack")
                let report = try recorded.json()
                expectCompleteStacks(report)
                let truth = try scratch.truth()
                let folded = try recorded.folded()
                var misses = Misses()
                misses.check(
                    "handler", folded.nanoseconds(through: "burn_in_handler"),
                    truth: truth["handler_cpu"])
                // The handler interrupted the loop, and its stack shows this.
                misses.check(
                    "interrupted",
                    folded.nanoseconds(through: "interrupted_loop", "burn_in_handler"),
                    truth: truth["handler_cpu"])
                return misses
            }
        }

        @Test(.alone) func deepRecursion() throws {
            try Misses.afterAttempts {
                let recorded = try record("deep", "1000")
                let folded = try recorded.folded()
                let bottom = folded.lines.filter { $0.frames.last == "burn_at_bottom" }
                #expect(bottom.map { $0.frames.filter { $0 == "descend" }.count } == [1001])
                let report = try recorded.json()
                expectCompleteStacks(report)
                var misses = Misses()
                let truth = try scratch.truth()["bottom_cpu"]
                misses.check("bottom", report.totalCPU(of: "burn_at_bottom"), truth: truth)
                // The function counts once, however often it is in the stack.
                misses.check("recursion", report.totalCPU(of: "descend"), truth: truth)
                return misses
            }
        }

        @Test func codeWithoutFramePointers() throws {
            let report = try record("noframes", "500000").json()
            expectCompleteStacks(report)
            #expect(report.functions.contains { $0.function.contains("Chain<8>::run(") })
        }

        @Test(.alone) func codeWithoutUnwindRules() throws {
            try Misses.afterAttempts {
                let recorded = try record("nocfi")
                let truth = try scratch.truth()
                let folded = try recorded.folded()
                var misses = Misses()
                misses.check(
                    "framed", folded.nanoseconds(through: "main", "framed_without_cfi"),
                    truth: truth["framed_cpu"])
                misses.check(
                    "both", folded.nanoseconds(through: "main", "leaf_without_cfi"),
                    truth: truth["leaf_cpu"].flatMap { leaf in
                        truth["framed_cpu"].map { leaf + $0 }
                    })
                return misses
            }
        }

        @Test(.alone) func inlinedFunctions() throws {
            try Misses.afterAttempts {
                let report = try record("inlined").json()
                let truth = try scratch.truth()["outer_cpu"]
                var misses = Misses()
                for function in ["outer", "middle", "inner_loop"] {
                    misses.check(function, report.totalCPU(of: function), truth: truth)
                }
                // On a busy machine a timer's interrupt may have found it there, and ends the stack.
                let stack = report.phase("Main")?.heaviestStack.filter { $0.module != "[kernel]" }
                #expect(stack?.suffix(3).map(\.inlined) == [false, true, true])
                return misses
            }
        }

        @Test(arguments: ["fork", "vfork", "spawn"])
        func processesThatMakeProcesses(mode: String) throws {
            let report = try record("forkers", mode).json()
            #expect(report.phaseNames.last == "Main")
            // The children are not recorded.
            #expect(report.threads.map(\.tid) == [report.program.pid])
        }

        @Test func aDaemonOutlivesItsParent() throws {
            let announcement = try Channel()
            let end = try Channel()
            var command = try Firstlight.recording(
                [try Setup.fixture("forkers"), "daemon", "3", "4"], to: scratch("recording"))
            command.inherited = [announcement.writer, end.reader]
            let result = try command.run()
            announcement.closeWriter()
            #expect(result.status == 0)
            let line = try announcement.line()
            let daemon = try #require(line.flatMap { pid_t($0) })
            #expect(Proc.program(daemon) == (try Setup.fixture("forkers")))
            #expect(!Proc.isTraced(daemon))
            end.closeWriter()
            try Proc.waitUntil("the daemon's end") {
                [nil, "Z", "X"].contains(Proc.state(daemon))
            }
        }

        @Test func shortLivedThreads() throws {
            let report = try record("churn", "500", options: ["--quiet", "--capture", "ptrace"])
                .json()
            #expect(report.threads.count == 501)
            for thread in report.threads { #expect(thread.sum == thread.wallNs, "\(thread)") }
            #expect(report.threads.reduce(0) { $0 + $1.runningNs } == report.launch.cpuNs)
        }

        /// Threads that are not traced need not be seen. But their CPU time is known, unless the
        /// hypervisor took the cores: then slices add up to more than the kernel counts.
        @Test func threadsTooShortToBeSeen() throws {
            let report = try record("churn", "500").json()
            for thread in report.threads { #expect(thread.sum == thread.wallNs, "\(thread)") }
            #expect(report.threads.reduce(0) { $0 + $1.runningNs } == report.launch.cpuNs)
            #expect(report.threads.count > 1)
            let isStolen = report.launch.notes.contains { $0.kind == "stolen" }
            #expect(report.threads.count == 501 || report.launch.unseenCPU > 0 || isStolen)
        }

        @Test(.alone) func threadsAtOnce() throws {
            try Misses.afterAttempts {
                let report = try record("threads").json()
                expectCompleteStacks(report)
                var misses = Misses()
                misses.check(
                    "work", report.totalCPU(of: "work"), truth: try scratch.truth()["threads_cpu"])
                return misses
            }
        }

        /// So many threads that sampling them all takes longer than a tick. Stacks are rare, and
        /// the last moments of each thread are missing, but the sum of their CPU times is exact.
        @Test(.alone) func moreThreadsThanTicksCanServe() throws {
            try Misses.afterAttempts {
                let report = try record("threads", "40", "3000000").json()
                expectCompleteStacks(report)
                for thread in report.threads { #expect(thread.sum == thread.wallNs) }
                let workers = report.threads.filter { $0.tid != report.program.pid }
                var misses = Misses()
                // Each lives for some ten milliseconds, in which the recorder may have no core.
                if workers.count != 40 { misses.add("\(workers.count) of 40 threads") }
                // Starting and ending threads takes additional time, ~50 us each.
                misses.check(
                    "threads",
                    workers.reduce(0) { $0 + $1.runningNs } + report.launch.unseenCPU,
                    truth: try scratch.truth()["threads_cpu"], floor: 40 * 150_000)
                return misses
            }
        }

        /// Computing threads are sampled by signals, and such a signal may meet the first call in
        /// which the thread waits. If libc's wrappers or its syscall(2) (the fixture's futex) made
        /// the call, it is restarted.
        @Test(.alone) func theFirstCallAfterLongWorkIsNotInterrupted() throws {
            let program = [try Setup.fixture("eintr"), "30", "3", "8"]
            let recorded = try Firstlight.record(
                program, in: scratch, options: ["--frequency", "10000"])
            let lines = recorded.finished.output.split(separator: "\n")
            #expect(
                lines == [
                    "nanosleep 0", "poll 0", "epoll_wait 0", "select 0", "semtimedop 0", "futex 0",
                    "read 0",
                ])
        }

        /// A stop ends some blocking calls early, so blocked threads are not stopped. But a stop
        /// may hit a thread on its way into a call: 2 % at most.
        @Test(.alone) func blockingCallsAreNotInterrupted() throws {
            let rounds = 50
            let program = [try Setup.fixture("eintr"), String(rounds), "5"]
            let recorded = try Firstlight.record(program, in: scratch)
            let lines = recorded.finished.output.split(separator: "\n")
            let counts = lines.compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }
            #expect(counts.count == 7)
            let interrupted = counts.reduce(0, +)
            #expect(interrupted * 50 <= counts.count * rounds, "\(lines)")
        }
    }
}
