import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// Whatever threads do while the recorder traces them: neither waits for the other for ever,
    /// and the program behaves as without recording.
    @Suite struct Tracer {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// Records a fixture whose standard input stays open until it has said `ready`, and the
        /// summary shows that the recording is over.
        private func record(_ fixture: String, options: [String]) throws -> Finished {
            let (input, output, error) = (try Channel(), try Channel(), try Channel())
            var command = try Firstlight.recording(
                [try Setup.fixture(fixture)], to: scratch("recording"), options: options)
            command.input = .descriptor(input.reader)
            command.output = output.writer
            command.error = error.writer
            let child = try command.start()
            output.closeWriter()
            error.closeWriter()
            #expect(try output.line() == "ready")
            #expect(try error.line()?.hasPrefix("\(fixture) ·") == true)
            input.closeWriter()
            var finished = try child.finish()
            finished.output = try output.rest()
            return finished
        }

        /// An exec first ends all other threads, and each of them stops once more. The recorder may
        /// be waiting for one of them at any moment.
        @Test(arguments: Array(stride(from: 60, to: 360, by: 20)))
        func anotherThreadExecutesWhileTheRecordingEnds(milliseconds: Int) throws {
            let program = [try Setup.fixture("successor"), "30"]
            let result = try Firstlight.recording(
                program, to: scratch("recording"),
                options: ["--quiet", "--duration", "\(milliseconds)ms"]
            ).run()
            #expect(result.status == 4 && result.output == "executed 30 times\n", "\(result)")
        }

        @Test(arguments: ["signal", "ptrace"])
        func anotherThreadExecutes(capture: String) throws {
            let program = [try Setup.fixture("successor"), "30"]
            let result = try Firstlight.recording(
                program, to: scratch("recording"), options: ["--quiet", "--capture", capture]
            ).run()
            #expect(result.status == 4 && result.output == "executed 30 times\n", "\(result)")
        }

        /// Threads are traced for the exec, but not after it has failed. Otherwise a debugger would
        /// be refused, and each signal would be a stop.
        @Test func anExecThatFailsLeavesNobodyTraced() throws {
            let file = scratch("unexecutable")
            try Data("nothing that a kernel knows".utf8).write(to: URL(fileURLWithPath: file))
            chmod(file, 0o755)
            let fixture = try Setup.fixture("unexecutable")
            let (input, output) = (try Channel(), try Channel())
            var command = try Firstlight.recording([fixture, file], to: scratch("recording"))
            command.input = .descriptor(input.reader)
            command.output = output.writer
            let child = try command.start()
            output.closeWriter()
            #expect(try output.line() == "refused")
            let pid = try Proc.recordedProgram(of: child.pid, running: fixture)
            try Proc.waitUntil("the end of tracing") {
                Proc.tasks(pid).allSatisfy { Proc.status(pid, "TracerPid", task: $0) == "0" }
            }
            input.closeWriter()
            #expect(try output.rest() == "over\n")
            #expect(try child.finish() == Finished(end: .exited(3), output: "", error: ""))
        }

        /// Ctrl-Z reaches only the recorder. If the recorder stopped, each thread would wait for it
        /// at its next signal.
        @Test func anAttachedProgramGoesOnAtCtrlZ() throws {
            let sleeper = try Sleeper()
            let recorder = try Firstlight.command([
                "attach", "-o", scratch("recording"), "--quiet", "--capture", "ptrace",
                String(sleeper.pid),
            ]).start()
            try Proc.waitUntil("tracing") { Proc.isTraced(sleeper.pid) }
            for signal in [SIGTSTP, SIGTTIN, SIGTTOU] { kill(recorder.pid, signal) }
            _ = try sleeper.millisecondsOfPassing()
            #expect(Proc.state(recorder.pid) != "T")
            kill(recorder.pid, SIGINT)
            #expect(try recorder.finish().status == 0)
            #expect(try sleeper.end().status == 0)
        }

        /// The terminal also stops a launched program, and the shell waits for the recorder to
        /// stop. Both go on together.
        @Test(arguments: [[], ["--capture", "ptrace"]] as [[String]])
        func aLaunchIsStoppedAndContinued(options: [String]) throws {
            let fixture = try Setup.fixture("sleeper")
            let (input, output) = (try Channel(), try Channel())
            var command = try Firstlight.recording(
                [fixture], to: scratch("recording"), options: ["--quiet"] + options)
            command.input = .descriptor(input.reader)
            command.output = output.writer
            let child = try command.start()
            output.closeWriter()
            #expect(try output.line() == "ready")
            let pid = try Proc.recordedProgram(of: child.pid, running: fixture)
            // The signal goes only to the recorder. The program does not stop, so the recorder does
            // not either.
            kill(child.pid, SIGTSTP)
            var switches = Proc.switches(pid)
            try Proc.waitUntil("the program's going on") { Proc.switches(pid) > switches + 400 }
            #expect(Proc.state(child.pid) != "T")
            for _ in 1...2 {
                kill(-child.pid, SIGTSTP)
                try Proc.waitUntil("stopping") {
                    Proc.state(child.pid) == "T" && "Tt".contains(Proc.state(pid) ?? "?")
                }
                kill(-child.pid, SIGCONT)
                switches = Proc.switches(pid)
                try Proc.waitUntil("the program's going on") {
                    Proc.switches(pid) > switches + 100
                }
            }
            input.closeWriter()
            // The stop ends epoll_wait, and the status shows this, as without recording.
            #expect(try output.rest().contains("failures 0 "))
            #expect(try child.finish().status == 1)
        }

        /// A thread in vfork stops only after its child goes on. The child also has our code in its
        /// memory, so the code stays.
        @Test func aRecordingEndsWhileAThreadWaitsInVfork() throws {
            let (input, output) = (try Channel(), try Channel())
            var command = Command([try Setup.fixture("lender")])
            command.input = .descriptor(input.reader)
            command.output = output.writer
            let program = try command.start()
            output.closeWriter()
            #expect(try output.line() == "ready")
            for _ in 1...2 {
                let attached = try Firstlight.command([
                    "attach", "-o", scratch("recording"), "--quiet", "--duration", "300ms",
                    String(program.pid),
                ]).run()
                #expect(attached == Finished(end: .exited(0), output: "", error: ""))
                #expect(!Proc.isTraced(program.pid))
            }
            input.closeWriter()
            #expect(try output.rest() == "over\n")
            #expect(try program.finish().status == 3)
        }

        @Test(arguments: [[], ["--capture", "ptrace"]] as [[String]])
        func aLaunchEndsWhileAThreadWaitsInVfork(options: [String]) throws {
            let result = try record("lender", options: ["--duration", "200ms"] + options)
            #expect(result.output == "over\n" && result.status == 3, "\(result)")
        }

        /// A program that ends with its parent: for it, the parent is the thread that forked it.
        @Test func aProgramThatEndsWithItsParent() throws {
            let result = try record("devoted", options: ["--duration", "50ms"])
            #expect(result.output == "over\n" && result.status == 3, "\(result)")
        }

        /// None of our traps is left: a program's own traps reach it.
        @Test(arguments: [[], ["--capture", "ptrace"]] as [[String]])
        func aProgramThatStepsThroughItself(options: [String]) throws {
            let program = [try Setup.fixture("stepped")]
            let alone = try Command(program).run()
            #expect(alone.status == 0)
            for _ in 1...3 {
                let recorded = try Firstlight.recording(
                    program, to: scratch("recording"), options: ["--quiet"] + options
                ).run()
                #expect(recorded == alone)
            }
            let killed = try Firstlight.recording(
                program + ["int3"], to: scratch("recording"), options: ["--quiet"] + options
            ).run()
            #expect(killed.status == 128 + SIGTRAP && killed.error == "")
        }

        /// Beyond the limit of descriptors, a thread's files are opened for each sample. Once,
        /// threads whose files could not be opened looked as if they had ended.
        @Test(.needs("prlimit")) func moreThreadsThanDescriptors() throws {
            var command = try Firstlight.recording(
                [try Setup.fixture("crowd"), "1", "150"], to: scratch("recording"))
            command.words = ["prlimit", "--nofile=96:96", "--"] + command.words
            let (input, output) = (try Channel(), try Channel())
            command.input = .descriptor(input.reader)
            command.output = output.writer
            let child = try command.start()
            output.closeWriter()
            #expect(try output.line() == "ready")
            let pid = try Proc.recordedProgram(of: child.pid, running: try Setup.fixture("crowd"))
            // In so much CPU time of the recorder's, threads would be lost and found many times.
            let (program, recorder) = (
                Self.processCPU(pid) ?? 0, Self.processCPU(child.pid) ?? 0
            )
            try Proc.waitUntil("some work") {
                (Self.processCPU(pid) ?? .max) > program + 20
                    && (Self.processCPU(child.pid) ?? .max) > recorder + 10
            }
            input.closeWriter()
            _ = try output.rest()
            let finished = try child.finish()
            #expect(finished.status == 0 && finished.error == "", "\(finished)")
            let report = try Recorded(path: scratch("recording"), finished: finished).json()
            #expect(report.threads.count == 152)
        }

        /// For all threads, in hundredths of a second.
        private static func processCPU(_ pid: pid_t) -> Int? {
            Proc.contents("/proc/\(pid)/stat")?.split(separator: " ").dropFirst(13).first
                .flatMap { Int($0) }
        }
    }
}
