import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// `--follow-children`: one recording has the launch's whole tree of processes.
    @Suite struct Children {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func record(_ program: [String]) throws -> Recorded {
            let path = scratch("launch.firstlight")
            let finished = try Firstlight.recording(
                program, to: path, options: ["--quiet", "--follow-children"]
            ).run()
            return Recorded(path: path, finished: finished)
        }

        @Test func oneRecordingHasThemAll() throws {
            let spin = try Setup.fixture("spin")
            let script = "\(spin); (exit 3); \(spin) & wait; exit 7"
            let alone = try Command(["sh", "-c", script]).run()
            let recorded = try record(["sh", "-c", script])
            #expect(recorded.finished == alone)
            #expect(scratch.names == ["launch.firstlight"])
            let report = try recorded.json()
            let first = try #require(report.processes.first)
            #expect(first.pid == report.program.pid && first.name == report.program.name)
            #expect(first.arguments == ["sh", "-c", script] && first.parentPid == nil)
            #expect(first.exitStatus == 7)
            #expect(first.phases.map(\.name) == report.phaseNames)
            #expect(first.phases.map(\.wallNs) == report.phases.map(\.wallNs))
            let children = report.processes.dropFirst()
            #expect(children.map(\.name) == ["spin", "sh", "spin"])
            #expect(zip(children, [0, 3, 0]).allSatisfy { ($0.exitStatus ?? $1) == $1 })
            #expect(children.filter { $0.name == "spin" }.allSatisfy { $0.exitStatus == 0 })
            #expect(children.allSatisfy { $0.parentPid == first.pid && $0.parent == 0 })
            #expect(children.filter { $0.name == "spin" }.allSatisfy { $0.arguments == [spin] })
            for child in children {
                let end = try #require(child.endNs)
                #expect(child.phases.reduce(0) { $0 + $1.wallNs } <= end - child.startNs)
                #expect(report.threads.contains { $0.tid == child.pid && $0.pid == child.pid })
            }
            // The launch's figures include the children's work.
            #expect(report.brokenSums.isEmpty)
            #expect(report.functions.contains { $0.function == "spin" && $0.selfCpuNs > 0 })
        }

        /// Events bring stacks; a timer brings an interpreter's functions, as without children.
        @Test(.needs("python3")) func theProgramRunsAnInterpreter() throws {
            let folded = try record(ScriptedCalls.words).folded("--no-phase", "--no-thread")
            let within = folded.nanoseconds(through: "caller")
            #expect(within > 0 && folded.nanoseconds(through: "caller", "leaf") * 10 > within * 8)
        }

        /// Children inherit the kernel's events, so no process is stopped for a sample. If the user
        /// asks for stops, they show the same.
        @Test(arguments: [("signal", "event"), ("ptrace", "ptrace")])
        func howStacksAreTaken(wanted: String, capture: String) throws {
            let spin = try Setup.fixture("spin")
            let path = scratch("launch.firstlight")
            let finished = try Firstlight.recording(
                ["sh", "-c", "\(spin); (exit 3)"], to: path,
                options: ["--quiet", "--follow-children", "--capture", wanted]
            ).run()
            let report = try Recorded(path: path, finished: finished).json()
            #expect(report.launch.capture == capture)
            let child = try #require(report.processes.first { $0.name == "spin" })
            // Our code in the child notes the borders of its launch. It is installed by a stop.
            let borders =
                capture == "ptrace"
                ? ["Dynamic linking", "Static initialisers", "Main"] : ["Not divided"]
            #expect(child.phases.map(\.name) == ["Process creation"] + borders)
            let function = try #require(report.functions.first { $0.function == "spin" })
            #expect(function.selfCpuNs > 0 && function.selfCpuNs <= child.cpuNs)
            #expect(report.brokenSums.isEmpty)
        }

        /// If the kernel's events report children, these have no tracer, and their threads are
        /// known.
        @Test func reportedChildrenHaveNoTracer() throws {
            let threads = try Setup.fixture("threads")
            let script = "grep TracerPid /proc/self/status; \(threads) 3 9000000; kill -9 $$"
            let program = ["sh", "-c", "sh -c '\(script)'; grep TracerPid /proc/self/status"]
            let alone = try Command(program).run()
            let recorded = try record(program)
            #expect(recorded.finished == alone)
            #expect(alone.output.contains("TracerPid:\t0\n"))
            let report = try recorded.json()
            #expect(report.processes.map(\.name) == ["sh", "sh", "grep", "threads", "grep"])
            #expect(report.processes[1].signal == 9)
            #expect(report.processes[3].exitStatus == 0)
            let workers = report.threads.filter { $0.pid == report.processes[3].pid }
            #expect(workers.count == 4)
            #expect(report.functions.contains { $0.function == "work" && $0.selfCpuNs > 0 })
        }

        /// In a child, too, any thread may execute a program; it is then the first thread.
        @Test func anyThreadMayExecuteAProgram() throws {
            let recorded = try record(["sh", "-c", "\(try Setup.fixture("successor")) 5; true"])
            #expect(recorded.finished.output == "executed 5 times\n")
            let report = try recorded.json()
            #expect(report.processes.map(\.name) == ["sh", "successor"])
            let child = report.processes[1]
            #expect(child.exitStatus == 4)
            #expect(child.phases.count { $0.name == "Wrapper: successor" } == 5)
            // Five threads of each program, and the last one alone.
            let threads = report.threads.filter { $0.pid == child.pid }
            #expect(threads.count == 5 * 5 + 1)
        }

        /// Events report children, but also the first process, which is followed in another way.
        @Test func theFirstOneHasItsThreads() throws {
            let program = [try Setup.fixture("threads"), "3", "60000000"]
            let recorded = try record(program)
            let report = try recorded.json()
            #expect(report.processes.count == 1 && report.threads.count == 4)
            #expect(report.threads.allSatisfy { $0.endNs >= $0.startNs })
            let work = try #require(report.functions.first { $0.function == "work" })
            #expect(work.selfCpuNs > 0 && work.selfCpuNs <= report.processes[0].cpuNs)
            #expect(report.brokenSums.isEmpty)
        }

        @Test func childrenThatCouldRunAtOnceAreAFinding() throws {
            let spin = try Setup.fixture("spin")
            let recorded = try record(["sh", "-c", "\(spin); \(spin); \(spin)"])
            let finding = try #require(
                try recorded.json().findings.first { $0.kind == "children-in-sequence" })
            #expect(finding.title.hasSuffix("starts spin, spin, spin one after the other"))
            let path = scratch("alone.firstlight")
            let finished = try Firstlight.recording(
                ["sh", "-c", "\(spin); true"], to: path, options: ["--quiet"]
            ).run()
            let summary = try Recorded(path: path, finished: finished).text("report", ["--full"])
            #expect(summary.replacing("\n", with: " ").contains(", which --follow-children shows"))
        }

        /// The recording may end just when the first process has forked by vfork. It stops only
        /// after its child has gone on, so the recorder must serve the child.
        @Test func theEndOfARecordingHoldsNobody() throws {
            let script = "i=0; while [ $i -lt 150 ]; do /bin/true; i=$((i+1)); done; echo done"
            for _ in 1...15 {
                let finished = try Firstlight.recording(
                    ["sh", "-c", script], to: scratch("end.firstlight"),
                    options: ["--quiet", "--follow-children", "--duration", "60ms"]
                ).run()
                #expect(finished.status == 0 && finished.output == "done\n")
                let recorded = Recorded(path: scratch("end.firstlight"), finished: finished)
                let broken = try recorded.json().brokenSums
                #expect(broken.isEmpty, "\(broken)")
                try? FileManager.default.removeItem(atPath: recorded.path)
            }
        }

        /// Two processes on one core: one is waited for, the other has more work.
        @Test(.requires(Schedule.wakeupsAreTold, "scheduler tracepoints cannot be read here"))
        func anUnneededProcessOnTheCoreIsAFinding() throws {
            let spin = try Setup.fixture("spin")
            let recorded = try record([
                "taskset", "-c", try Cores.first(), "sh", "-c", "(\(spin); \(spin)) & \(spin)",
            ])
            let report = try recorded.json()
            let finding = try #require(report.findings.first { $0.kind == "unawaited-process" })
            #expect(
                finding.title.hasSuffix(
                    "spin uses the core that the launch waits for, but nothing waits for spin"))
            #expect(report.brokenSums.isEmpty)
        }

        /// The report of one process is the same as if it had been recorded alone.
        @Test func oneOfThemAlone() throws {
            let spin = try Setup.fixture("spin")
            // The scheduler reports the executed program's name. A subshell can be over before it
            // is read.
            let recorded = try record(["sh", "-c", "\(spin); sh -c 'exit 3' || exit 3"])
            let whole = try recorded.json()
            let child = try #require(whole.processes.first { $0.name == "spin" })
            #expect(child.phases.map(\.name) == ["Process creation", "Not divided"])
            for word in ["spin", "SPIN", "\(child.pid)"] {
                let own = try recorded.json(["--process", word])
                #expect(own.program.pid == child.pid && own.processes.count == 1)
                #expect(own.brokenSums.isEmpty)
                #expect(own.phaseNames == child.phases.map(\.name))
                // The time for which the profiler held it is excluded here, but part of the tree's
                // time.
                for (mine, among) in zip(own.phases, child.phases) {
                    #expect(mine.wallNs + mine.heldNs == among.wallNs, "\(mine.name)")
                    // So is its CPU time meanwhile, on its way into the stop and out of it.
                    let both = mine.cpuNs...mine.cpuNs + mine.heldNs
                    #expect(both.contains(among.cpuNs), "\(mine.name)")
                }
                #expect(own.functions.contains { $0.function == "spin" && $0.selfCpuNs > 0 })
            }
            let unknown = try Firstlight.command(["report", recorded.path, "--process", "x"]).run()
            #expect(unknown.status == 1)
            #expect(unknown.error.contains("no process 'x' in this recording; it has: "))
            // On a busy machine the second one's arguments may be gone, and its name is its file's.
            let areBothNamed = whole.processes.allSatisfy { !$0.arguments.isEmpty }
            let several = try Firstlight.command(["report", recorded.path, "--process", "sh"]).run()
            #expect(
                !areBothNamed
                    || several.status == 1 && several.error.contains("give one's id: "),
                "\(whole.processes)")
        }

        /// If a launch waits for a process, it takes as long as this process.
        @Test func theCriticalPathGoesOnInAChild() throws {
            let spin = try Setup.fixture("spin")
            let report = try record(["sh", "-c", "\(spin); exit 0"]).json()
            let child = try #require(report.processes.first { $0.name == "spin" })
            let mine = report.criticalPath.filter { $0.tid == child.pid }
                .reduce(0) { $0 + $1.durationNs }
            #expect(mine > 0)
        }

        /// Each process is started in another way, and names itself. The path goes through processes that
        /// were waited for, in their order.
        @Test func processesStartedInEveryWayAreKnown() throws {
            let path = scratch("launch.firstlight")
            let finished = try Firstlight.recording(
                [try Setup.fixture("family")], to: path,
                options: ["--quiet", "--follow-children"],
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth")]
            ).run()
            let report = try Recorded(path: path, finished: finished).json()
            let truth = try scratch.truth()
            // The eighth process is the daemon's parent.
            #expect(report.processes.count == 8)
            let roles = ["forked", "first", "second", "spawned", "executed", "daemon"]
            var pids: [Int32: String] = [:]
            for role in roles {
                let process = try #require(
                    report.processes.first { Int64($0.pid) == truth["\(role)_pid"] }, "\(role)")
                pids[process.pid] = role
                #expect(process.cpuNs > 0 && process.endNs.map { $0 > process.startNs } == true)
            }
            var order: [String] = []
            for role in report.criticalPath.compactMap({ pids[$0.tid] }) where !order.contains(role)
            {
                order.append(role)
            }
            // Processes that were not waited for, and those whose wake-up got lost, are not on it.
            #expect(!order.isEmpty && order == roles.filter(order.contains), "\(order)")
        }

        @Test func everyViewAndFormatKnowsThem() throws {
            let spin = try Setup.fixture("spin")
            let recorded = try record(["sh", "-c", "\(spin); (exit 3)"])
            let child = try #require(
                try recorded.json().processes.first { $0.name == "spin" })
            let tree = try recorded.text("report", ["--view", "processes"])
            let lines = tree.split(separator: "\n").filter { $0.contains("\(child.pid)") }
            #expect(lines.count == 1 && lines.first?.hasPrefix("    spin ") == true, "\(tree)")
            #expect(try recorded.text("report", ["--full"]).contains("PROCESS"))
            #expect(try recorded.text("report", ["--view", "threads"]).contains("PROCESS"))
            let folded = try recorded.text("fold")
            let mine = "spin/\(child.pid);"
            #expect(folded.split(separator: "\n").contains { $0.hasPrefix(mine) })
            let own = try recorded.text("fold", ["--process", "spin"])
            #expect(!own.contains("sh/"))
            let firefox = try recorded.text("export", ["--format", "firefox"])
            #expect(firefox.contains("\"pid\":\"\(child.pid)\""))
            let chrome = try recorded.text("export", ["--format", "chrome"])
            #expect(chrome.contains("\"pid\":\(child.pid)"))
            // With plain tables it is the same recording. A part of it cannot be exported.
            let plain = scratch("plain.sqlite")
            _ = try recorded.text("export", ["--format", "sqlite", "-o", plain])
            let copy = Recorded(path: plain, finished: recorded.finished)
            #expect(try copy.text("report", ["--full"]) == recorded.text("report", ["--full"]))
            let part = try Firstlight.command([
                "export", recorded.path, "--format", "sqlite", "--process", "spin",
            ]).run()
            #expect(part.status == 2)
            #expect(part.error.contains("--process does not go with --format sqlite"))
        }

        @Test(arguments: [["vfork", "20"], ["spawn", "20"], ["fork"]])
        func theyAreBornInEveryWay(words: [String]) throws {
            let program = [try Setup.fixture("forkers")] + words
            let alone = try Command(program).run()
            let recorded = try record(program)
            #expect(recorded.finished == alone)
            // Each of the twenty, once; `fork` makes only one.
            let count = words.count > 1 ? 20 : 1
            #expect(try recorded.json().processes.count == 1 + count)
        }

        /// Of an ended child only its rows are left: neither files nor threads.
        @Test func thousandsMayEnd() throws {
            let script = """
                i=0; while [ $i -lt 60 ]; do /bin/true; i=$((i+1)); done; echo ready; read line
                """
            let (input, output) = (try Channel(), try Channel())
            let path = scratch("launch.firstlight")
            var command = try Firstlight.recording(
                ["sh", "-c", script], to: path, options: ["--quiet", "--follow-children"])
            command.input = .descriptor(input.reader)
            command.output = output.writer
            let recorder = try command.start()
            output.closeWriter()
            #expect(try output.line(limit: 60) == "ready")
            let files = "/proc/\(recorder.pid)/fd"
            try Proc.waitUntil("files being closed") {
                let open = try? FileManager.default.contentsOfDirectory(atPath: files).count
                return open.map { $0 < 50 } == true
            }
            input.closeWriter()
            _ = try recorder.finish()
            let finished = Finished(end: .exited(0), output: "", error: "")
            let report = try Recorded(path: path, finished: finished).json()
            let children = report.processes.dropFirst()
            // No process begins twice.
            #expect(children.count == 60 && children.allSatisfy { $0.name == "true" })
            #expect(scratch.names == ["launch.firstlight"])
        }

        /// A child that lives on is detached, unharmed.
        @Test func aChildMayOutliveItsParent() throws {
            let input = try Channel()
            let path = scratch("launch.firstlight")
            var command = try Firstlight.recording(
                ["sh", "-c", "exec 3<&0; { read line <&3; echo $line; } & exit 0"],
                to: path, options: ["--quiet", "--follow-children"])
            command.input = .descriptor(input.reader)
            let output = try Channel()
            command.output = output.writer
            let child = try command.start()
            output.closeWriter()
            #expect(try child.finish().status == 0)
            try input.write("later\n")
            #expect(try output.rest() == "later\n")
            let finished = Finished(end: .exited(0), output: "", error: "")
            let report = try Recorded(path: path, finished: finished).json()
            #expect(report.processes.count == 2)
            #expect(report.processes.last.map { $0.exitStatus == nil && $0.signal == nil } == true)
        }
    }
}
