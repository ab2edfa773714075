import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// Recording a program that another process will start.
    @Suite struct AttachWaiting {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// An `attach --wait` that has said that it waits.
        private final class Waiter {
            let child: Child
            let errors: Channel
            /// Its earlier lines.
            var notices: [String] = []

            init(_ name: String, output: String) throws {
                errors = try Channel()
                var command = try Firstlight.command(
                    ["attach", "--quiet", "-o", output, "--wait", name])
                command.error = errors.writer
                child = try command.start()
                errors.closeWriter()
                while let line = try errors.line() {
                    if line.hasPrefix("firstlight: waiting for '\(name)'") { return }
                    notices.append(line)
                }
                throw Command.Failure(description: "does not wait: \(notices)")
            }

            /// How it ended, and its last lines.
            func finish() throws -> (status: Int32?, complaints: String) {
                let status = try child.finish().status
                return (status, try errors.rest())
            }
        }

        private func waiter(_ name: String) throws -> Waiter {
            try Waiter(name, output: scratch("recording"))
        }

        private func report() throws -> LaunchReport {
            let finished = Finished(end: .exited(0), output: "", error: "")
            return try Recorded(path: scratch("recording"), finished: finished).json()
        }

        /// A copy of the beacon with this name.
        private func beacon(_ name: String) throws -> String {
            if !scratch.has(name) {
                try Scratch.copyItem(
                    atPath: try Setup.fixture("beacon"), toPath: scratch(name))
            }
            return scratch(name)
        }

        /// When the recording began, in nanoseconds of the monotonic clock.
        private func attachedAt() throws -> Int64 {
            let marks = try StoredRows("marks", of: scratch("recording"))
            let times = zip(marks.numbers("kind"), marks.numbers("time_ns"))
            return try #require(times.first { $0.0 == 5 }?.1)
        }

        @Test(.needs("python3")) func aProgramThatStarts() throws {
            let program = try beacon("beacon-a")
            let alone = try Command([program]).run()
            let truth = ["FIRSTLIGHT_TRUTH": scratch("truth")]
            var delays: [Int64] = []
            for _ in 1...10 {
                let waiter = try waiter("beacon-a")
                #expect(waiter.notices.isEmpty)
                let result = try Command([program], adding: truth).run()
                #expect(result == alone)
                let end = try waiter.finish()
                #expect(end.status == 0 && end.complaints == "", "\(end)")
                let main = try #require(try scratch.truth()["main_at"])
                delays.append(try attachedAt() - main)
                let report = try report()
                #expect(report.phaseNames == ["Attached"])
                #expect(report.program.path == program)
                // Recording began early enough to see some of it.
                #expect(report.launch.cpuNs > 0)
            }
            print("attached after main, in µs: \(delays.sorted().map { $0 / 1000 })")
        }

        @Test func theProgramBehindAWrapper() throws {
            _ = try beacon("beacon-b")
            try scratch.write(
                "#!/bin/sh\n(true)\nexec \"$(dirname \"$0\")/beacon-b\"\n", to: "go", mode: 0o755)
            let waiter = try waiter("beacon-b")
            #expect(try Command([scratch("go")]).run().status == 0)
            #expect(try waiter.finish().status == 0)
            #expect(try report().program.path == scratch("beacon-b"))
        }

        /// The kernel cuts the script's name at 15 bytes. A program with the same beginning of its
        /// name runs first.
        @Test func aScriptOfALongName() throws {
            let decoy = try beacon("a-long-long-name-of-others")
            let name = "a-long-long-name-of-ours"
            let input = try Channel()
            try scratch.write("#!/bin/sh\nread line\n", to: name, mode: 0o755)
            let waiter = try waiter(name)
            #expect(try Command([decoy, "1000"]).run().status == 0)
            var script = Command([scratch(name)])
            script.input = .descriptor(input.reader)
            let child = try script.start()
            try Proc.waitUntil("attaching") { access(scratch("recording"), F_OK) == 0 }
            try input.write("\n")
            #expect(try child.finish().status == 0)
            #expect(try waiter.finish().status == 0)
            #expect(try report().program.pid == child.pid)
        }

        /// `attach` names a process that already runs the program. The process counts once it
        /// executes the program again.
        @Test func aProcessThatRunsAlreadyIsNamed() throws {
            let program = try beacon("beacon-c")
            let input = try Channel()
            // argv[0] is the awaited name.
            var command = Command([
                "sh", "-c", "exec -a beacon-c bash -c 'read line; exec \"$1\"' bash \"$1\"", "sh",
                program,
            ])
            command.words[0] = "bash"
            command.input = .descriptor(input.reader)
            let child = try command.start()
            try Proc.waitUntil("renaming") {
                Proc.contents("/proc/\(child.pid)/cmdline")?.hasPrefix("beacon-c\0") == true
            }
            let waiter = try waiter("beacon-c")
            #expect(waiter.notices.count == 1)
            let notice = waiter.notices.first ?? ""
            #expect(notice.contains("is already running") && notice.contains("attach \(child.pid)"))
            #expect(!Proc.isTraced(child.pid))
            try input.write("\n")
            #expect(try child.finish().status == 0)
            #expect(try waiter.finish().status == 0)
            #expect(try report().program.pid == child.pid)
        }

        /// A fork runs the same program, but has not executed it.
        @Test func forksDoNotCount() throws {
            let program = try beacon("beacon-d")
            let input = try Channel()
            var command = Command([
                "bash", "-c", "exec -a beacon-d bash -c 'read a; (:); (:); read b'",
            ])
            command.input = .descriptor(input.reader)
            let child = try command.start()
            try Proc.waitUntil("renaming") {
                Proc.contents("/proc/\(child.pid)/cmdline")?.hasPrefix("beacon-d\0") == true
            }
            let waiter = try waiter("beacon-d")
            try input.write("a\n")
            // Meanwhile subshells of the program begin and end.
            let started = try Command([program]).start()
            let end = try waiter.finish()
            #expect(end.status == 0)
            #expect(try report().program.pid == started.pid)
            #expect(try started.finish().status == 0)
            try input.write("b\n")
            #expect(try child.finish().status == 0)
        }

        @Test(arguments: [SIGINT, SIGTERM, SIGHUP]) func anEndBeforeItComes(signal: Int32) throws {
            let waiter = try waiter("no-such-program")
            kill(waiter.child.pid, signal)
            let end = try waiter.finish()
            #expect(end.status == 128 + signal && end.complaints == "", "\(end)")
            #expect(scratch.names.isEmpty)
        }

        @Test func aRecordingThatCannotBeMade() throws {
            let words = ["attach", "--wait", "x", "-o", scratch("none") + "/recording"]
            let result = try Firstlight.command(words).run()
            #expect(result.isRefusal(125, mentioning: scratch("none")), "\(result)")
        }
    }
}
