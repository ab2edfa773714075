import EndToEndSupport
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
                report.launch.mostStacksAreWhole,
                "\(report.launch.truncatedStacks) of \(report.launch.slices) are truncated")
        }

        @Test func aHandlerOnAnAlternateStack() throws {
            let recorded = try record("altstack")
            let report = try recorded.json()
            expectCompleteStacks(report)
            // The handler interrupted the loop, and its stack shows this.
            let folded = try recorded.folded()
            let handler = folded.lines.filter {
                !$0.frames.contains("[truncated]") && $0.frames.contains("burn_in_handler")
            }
            #expect(!handler.isEmpty)
            #expect(handler.allSatisfy { $0.frames.contains("interrupted_loop") }, "\(handler)")
        }

        @Test func deepRecursion() throws {
            let recorded = try record("deep", "1000")
            let folded = try recorded.folded()
            let report = try recorded.json()
            let bottom = folded.lines.filter {
                $0.frames.last == "burn_at_bottom" && !$0.frames.contains("[truncated]")
            }
            let depths = bottom.map { $0.frames.filter { $0 == "descend" }.count }
            #expect(depths == [1001] || depths.isEmpty && report.launch.isHardlySeen)
            expectCompleteStacks(report)
            // The function counts once, however often it is in the stack.
            let recursion = report.totalCPU(of: "descend")
            #expect(recursion > 0 || report.launch.isHardlySeen)
            #expect(recursion <= report.launch.cpuNs)
        }

        @Test func codeWithoutFramePointers() throws {
            let report = try record("noframes", "500000").json()
            expectCompleteStacks(report)
            #expect(report.functions.contains { $0.function.contains("Chain<8>::run(") })
        }

        @Test func codeWithoutUnwindRules() throws {
            let folded = try record("nocfi").folded()
            #expect(folded.nanoseconds(through: "main", "framed_without_cfi") > 0)
            #expect(folded.nanoseconds(through: "main", "leaf_without_cfi") > 0)
        }

        @Test func inlinedFunctions() throws {
            let report = try record("inlined").json()
            for function in ["outer", "middle", "inner_loop"] {
                #expect(report.totalCPU(of: function) > 0, "\(function)")
            }
            // On a busy machine a timer's interrupt may have found it there, and ends the stack.
            let stack = report.phase("Main")?.heaviestStack.filter { $0.module != "[kernel]" }
            #expect(stack?.suffix(3).map(\.inlined) == [false, true, true])
        }

        @Test(arguments: ["fork", "vfork", "spawn"])
        func processesThatMakeProcesses(mode: String) throws {
            let report = try record("forkers", mode).json()
            #expect(report.phaseNames.last == "Main" || report.launch.isUndivided)
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
        /// hypervisor took the cores: then slices add up to more than the kernel counts. Where a busy
        /// machine lets nearly all of them be seen, the few that are left may use less than that.
        @Test func threadsTooShortToBeSeen() throws {
            let report = try record("churn", "500").json()
            for thread in report.threads { #expect(thread.sum == thread.wallNs, "\(thread)") }
            #expect(report.threads.reduce(0) { $0 + $1.runningNs } == report.launch.cpuNs)
            let isStolen = report.launch.notes.contains { $0.kind == "stolen" }
            #expect(report.threads.count > 250 || report.launch.unseenCPU > 0 || isStolen)
        }

        @Test func threadsAtOnce() throws {
            let report = try record("threads").json()
            expectCompleteStacks(report)
            #expect(report.totalCPU(of: "work") > 0)
        }

        /// So many threads that sampling them all takes longer than a tick. Stacks are rare, and
        /// the last moments of each thread are missing; threads that the recorder did not see are counted.
        @Test func moreThreadsThanTicksCanServe() throws {
            let report = try record("threads", "40", "3000000").json()
            expectCompleteStacks(report)
            for thread in report.threads { #expect(thread.sum == thread.wallNs) }
            let workers = report.threads.filter { $0.tid != report.program.pid }
            #expect(workers.count <= 40)
            #expect(report.threads.reduce(0) { $0 + $1.runningNs } == report.launch.cpuNs)
        }

        /// Blocking calls end one after the other, whatever thread they meet. How many are interrupted is
        /// counted by `make truth`.
        @Test(arguments: [["30", "3", "8"], ["50", "5"]])
        func blockingCallsAreMade(words: [String]) throws {
            let program = [try Setup.fixture("eintr")] + words
            let recorded = try Firstlight.record(program, in: scratch)
            let calls = recorded.finished.output.split(separator: "\n").map {
                String($0.prefix { $0 != " " })
            }
            #expect(
                calls == [
                    "nanosleep", "poll", "epoll_wait", "select", "semtimedop", "futex", "read",
                ])
        }
    }
}
