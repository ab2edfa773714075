import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// Attaching to a running process, and detaching from it.
    @Suite struct Attaching {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// Runs `attach` for a sleeper, to its end.
        private func attach(_ pid: pid_t, _ options: String...) throws -> Finished {
            let words = ["attach", "-o", scratch("recording")] + options + [String(pid)]
            return try Firstlight.command(words).run()
        }

        private func report() throws -> LaunchReport {
            let finished = Finished(end: .exited(0), output: "", error: "")
            return try Recorded(path: scratch("recording"), finished: finished).json()
        }

        @Test func aHundredTimesInARowDoesNoHarm() throws {
            let sleeper = try Sleeper()
            let pid = sleeper.pid
            let dispositions = Dispositions(of: pid)
            for round in 1...100 {
                let result = try attach(pid, "--duration", "30ms", "--quiet")
                #expect(result == Finished(end: .exited(0), output: "", error: ""), "\(round)")
                #expect(!Proc.isTraced(pid))
                #expect("RS".contains(Proc.state(pid) ?? "?"), "\(round)")
                #expect(Dispositions(of: pid) == dispositions)
            }
            let untouched = try Sleeper()
            let alone = try untouched.end()
            let end = try sleeper.end()
            #expect(end.status == 0, "\(end)")
            #expect(end.checksum == alone.checksum)
            #expect(end.interruptions == alone.interruptions)
        }

        /// No thread can be made to install our code. The recorder says so, and leaves nothing
        /// behind.
        @Test func aProgramThatASignalHasStopped() throws {
            let sleeper = try Sleeper()
            kill(sleeper.pid, SIGSTOP)
            try Proc.waitUntil("it has stopped") { Proc.state(sleeper.pid) == "T" }
            let result = try attach(sleeper.pid, "--duration", "200ms")
            #expect(result.status == 0)
            let said = result.output + result.error
            #expect(said.contains("the recording ended before"), "\(said)")
            #expect(Proc.state(sleeper.pid) == "T")
            let maps = Proc.contents("/proc/\(sleeper.pid)/maps")
            #expect(maps?.contains("firstlight") == false)
            kill(sleeper.pid, SIGCONT)
            _ = try sleeper.end()
        }

        /// The handler and the shared memory are removed, and installed again.
        @Test func aBusyProcessIsLeftAsItWas() throws {
            let (input, output) = (try Channel(), try Channel())
            var command = Command([try Setup.fixture("crowd"), "2", "3"])
            command.input = .descriptor(input.reader)
            command.output = output.writer
            let child = try command.start()
            output.closeWriter()
            #expect(try output.line() == "ready")
            let dispositions = Dispositions(of: child.pid)
            for round in 1...5 {
                let result = try attach(child.pid, "--duration", "100ms", "--quiet")
                #expect(result == Finished(end: .exited(0), output: "", error: ""), "\(round)")
                let report = try report()
                #expect(report.launch.capture == "signal", "\(round)")
                // On a busy machine it may hardly have had a core meanwhile.
                let isSeen = report.functions.contains { $0.function == "work" && $0.selfCpuNs > 0 }
                #expect(isSeen || report.launch.cpuNs < 20_000_000, "\(round)")
                #expect(Dispositions(of: child.pid) == dispositions)
                #expect(Proc.contents("/proc/\(child.pid)/maps")?.contains("firstlight") == false)
                #expect(!Proc.isTraced(child.pid))
            }
            input.closeWriter()
            #expect(try child.finish().status == 0)
        }

        /// The next recorder recognises what a killed recorder has left in the program, and takes
        /// it over.
        @Test func afterAKilledRecorder() throws {
            let sleeper = try Sleeper([try Setup.fixture("adjuster")])
            // The program sets signal actions itself, but not for SIGURG and SIGWINCH.
            func hasOurHandler() -> Bool {
                let caught = Dispositions(of: sleeper.pid).caught.flatMap { UInt64($0, radix: 16) }
                return (caught ?? 0) & (1 << 22 | 1 << 27) != 0
            }
            for round in 1...3 {
                let killed = try Firstlight.command(
                    ["attach", "-o", scratch("killed"), "--quiet", String(sleeper.pid)]
                ).start()
                // On a busy machine the recorder may not get its code in, and goes on by ptrace.
                try Proc.waitUntil("our handler in the program, or many ticks without it") {
                    hasOurHandler() || Proc.switches(killed.pid) > 20_000
                }
                // The recorder serves ticks.
                let switches = Proc.switches(killed.pid)
                try Proc.waitUntil("some ticks") { Proc.switches(killed.pid) > switches + 100 }
                kill(killed.pid, SIGKILL)
                _ = try killed.finish()
                let result = try attach(sleeper.pid, "--duration", "100ms", "--quiet")
                #expect(result == Finished(end: .exited(0), output: "", error: ""))
                // There are only two signals, so none may stay reserved for the dead recorder.
                let launch = try report().launch
                #expect(launch.capture == (launch.isUnmapped ? "ptrace" : "signal"), "\(round)")
                // Where threads could not be stopped without harm, the recorder says so.
                let isLeft = launch.notes.contains { $0.kind == "left_behind" }
                #expect(!hasOurHandler() || isLeft, "\(round)")
                let maps = Proc.contents("/proc/\(sleeper.pid)/maps")
                #expect(maps?.contains("memfd:firstlight") == false || isLeft, "\(round)")
            }
            #expect(try sleeper.end().status == 0)
        }

        /// No thread can be stopped without harm to remove our code, so it stays. The next recorder
        /// removes what would be in its way.
        @Test func aProgramThatWaitsInEpoll() throws {
            let (input, output) = (try Channel(), try Channel())
            var command = Command([try Setup.fixture("poller")])
            command.input = .descriptor(input.reader)
            command.output = output.writer
            let child = try command.start()
            output.closeWriter()
            #expect(try output.line() == "ready")
            for round in 1...4 {
                let recorder = try Firstlight.command(
                    ["attach", "-o", scratch("recording"), "--quiet", String(child.pid)]
                ).start()
                let before = Proc.switches(recorder.pid)
                try Proc.waitUntil("some ticks") { Proc.switches(recorder.pid) > before + 100 }
                try input.write("x")
                #expect(try output.line() == "done")
                kill(recorder.pid, SIGINT)
                #expect(try recorder.finish().status == 0)
                #expect(try report().launch.capture == "signal", "\(round)")
                #expect(!Proc.isTraced(child.pid))
            }
            input.closeWriter()
            #expect(try output.rest() == "")
            #expect(try child.finish() == Finished(end: .exited(3), output: "", error: ""))
        }

        /// The linker already calls our code for a library's initialisers, which have not yet run.
        @Test func endingWhileALibraryIsLoaded() throws {
            let (input, output) = (try Channel(), try Channel())
            var command = Command([
                try Setup.fixture("resolving"), try Setup.fixture("resolver.so"),
            ])
            command.input = .descriptor(input.reader)
            command.output = output.writer
            let child = try command.start()
            output.closeWriter()
            #expect(try output.line() == "ready")
            let recorder = try Firstlight.command(
                ["attach", "-o", scratch("recording"), "--quiet", String(child.pid)]
            ).start()
            try Proc.waitUntil("our code in the program") {
                Proc.contents("/proc/\(child.pid)/maps")?.contains("memfd:firstlight") == true
                    && !Proc.isTraced(child.pid)
            }
            try input.write("x")
            #expect(try output.line() == "resolving")
            kill(recorder.pid, SIGINT)
            #expect(try recorder.finish().status == 0)
            try input.write("y")
            #expect(try output.rest() == "initialised\ndone\n")
            #expect(try child.finish().status == 0)
        }

        /// Only one of two recorders works in the program; the other says so.
        @Test func twoAtOnce() throws {
            let sleeper = try Sleeper([try Setup.fixture("adjuster")])
            let first = try Firstlight.command(
                ["attach", "-o", scratch("first"), "--quiet", String(sleeper.pid)]
            ).start()
            try Proc.waitUntil("our code in the program") {
                Proc.contents("/proc/\(sleeper.pid)/maps")?.contains("memfd:firstlight") == true
            }
            let result = try attach(sleeper.pid, "--duration", "100ms", "--quiet")
            #expect(result == Finished(end: .exited(0), output: "", error: ""))
            #expect(try report().launch.notes.contains { $0.kind == "occupied" })
            kill(first.pid, SIGINT)
            #expect(try first.finish().status == 0)
            #expect(try sleeper.end().status == 0)
        }

        @Test func theSummaryShowsWhatTheThreadsDo() throws {
            let sleeper = try Sleeper()
            let recorder = try Firstlight.command(
                ["attach", "-o", scratch("recording"), String(sleeper.pid)]
            ).start()
            try Proc.waitUntil("our code in the program") {
                Proc.contents("/proc/\(sleeper.pid)/maps")?.contains("memfd:firstlight") == true
                    && !Proc.isTraced(sleeper.pid)
            }
            // Its threads have been looked at, and have worked.
            let switches = Proc.switches(recorder.pid)
            try Proc.waitUntil("some ticks") { Proc.switches(recorder.pid) > switches + 100 }
            for _ in 1...3 { _ = try sleeper.millisecondsOfPassing() }
            kill(recorder.pid, SIGINT)
            let result = try recorder.finish()
            #expect(result.status == 0)
            #expect(result.output == "")
            #expect(result.error.contains("sleeper"))
            #expect(result.error.contains("Attached"))
            let report = try self.report()
            #expect(report.phaseNames == ["Attached"])
            #expect(report.threads.count == 9)
            #expect(report.program.pid == sleeper.pid)
            #expect(report.program.exitStatus == nil && report.program.signal == nil)
            for thread in report.threads { #expect(thread.sum == thread.wallNs, "\(thread)") }
            #expect(report.launch.mostStacksAreWhole, "\(report.launch)")
            let blocked = try Firstlight.run(
                "fold", "--weight", "blocked", scratch("recording"))
            let folded = try Folded(parsing: blocked.output)
            for wait in ["[pipe", "[poll", "[futex"] {
                let isThere = folded.lines.contains {
                    $0.frames.last?.hasPrefix(wait) == true
                }
                #expect(isThere, "\(wait)")
            }
            #expect(try sleeper.end().status == 0)
        }

        @Test func theProcessMayEndMeanwhile() throws {
            let sleeper = try Sleeper()
            let words = ["attach", "-o", scratch("recording"), String(sleeper.pid)]
            let attach = try Firstlight.command(words).start()
            try Proc.waitUntil("attaching") { access(scratch("recording"), F_OK) == 0 }
            #expect(try sleeper.end().status == 0)
            let result = try attach.finish()
            #expect(result.status == 0)
            #expect(result.error.contains("sleeper"))
            let report = try report()
            #expect(report.phaseNames == ["Attached"])
            #expect(report.phases.reduce(0) { $0 + $1.wallNs } == report.launch.wallNs)
        }

        @Test func anInterruptEndsTheRecordingOnly() throws {
            let sleeper = try Sleeper()
            let words = ["attach", "--quiet", "-o", scratch("recording"), String(sleeper.pid)]
            let attach = try Firstlight.command(words).start()
            try Proc.waitUntil("attaching") { access(scratch("recording"), F_OK) == 0 }
            kill(attach.pid, SIGINT)
            let result = try attach.finish()
            #expect(result.status == 0, "\(result)")
            #expect(!Proc.isTraced(sleeper.pid))
            #expect(try sleeper.end().status == 0)
            #expect(try report().phaseNames == ["Attached"])
        }

        @Test func aKilledRecorderLetsGo() throws {
            let sleeper = try Sleeper()
            for _ in 1...10 {
                let words = ["attach", "-o", scratch("recording"), String(sleeper.pid)]
                let attach = try Firstlight.command(words).start()
                try Proc.waitUntil("attaching") { access(scratch("recording"), F_OK) == 0 }
                kill(attach.pid, SIGKILL)
                _ = try attach.finish()
                #expect(!Proc.isTraced(sleeper.pid))
                try Proc.waitUntil("going on") {
                    "RS".contains(Proc.state(sleeper.pid) ?? "?")
                }
                unlink(scratch("recording"))
            }
            #expect(try sleeper.end().status == 0)
        }

        @Test func onesOwnParent() throws {
            let firstlight = try Setup.path(.firstlight)
            let script = "\"$0\" attach --duration 20ms --quiet -o \"$1\" $$; echo status $?"
            let result = try Command(["sh", "-c", script, firstlight, scratch("recording")]).run()
            #expect(result.output == "status 0\n")
            #expect(result.error == "")
            #expect(try report().phaseNames == ["Attached"])
        }

        /// A stopped job stays stopped, and goes on when told to. (This ends epoll_wait, and no
        /// other call, with EINTR, whether recorded or not: signal(7).)
        @Test func aStoppedProcess() throws {
            let sleeper = try Sleeper()
            try sleeper.stop()
            let result = try attach(sleeper.pid, "--duration", "50ms", "--quiet")
            #expect(result.status == 0, "\(result)")
            #expect(Proc.state(sleeper.pid) == "T")
            kill(sleeper.pid, SIGCONT)
            let end = try sleeper.end()
            #expect(end.checksum != nil)
            let others = end.interruptions.filter { !$0.hasPrefix("EINTR epoll_wait") }
            #expect(others.allSatisfy { $0.hasSuffix(" 0") }, "\(others)")
        }

        /// A process that shares the program's memory also runs our code, and the recorder does not
        /// check whether it is in it: the area stays.
        @Test func anotherProcessWithItsMemory() throws {
            let (input, output) = (try Channel(), try Channel())
            var command = Command([try Setup.fixture("sharer")])
            command.input = .descriptor(input.reader)
            command.output = output.writer
            let program = try command.start()
            input.closeReader()
            output.closeWriter()
            #expect(try output.line() == "ready")
            let result = try Firstlight.command([
                "attach", "-o", scratch("recording"), "--duration", "100ms", String(program.pid),
            ]).run()
            #expect(result.status == 0, "\(result)")
            #expect((result.output + result.error).contains("could not be removed"), "\(result)")
            let maps = try String(contentsOfFile: "/proc/\(program.pid)/maps", encoding: .utf8)
            #expect(maps.contains("firstlight"))
            input.closeWriter()
            #expect(try output.line() == "other 0")
            #expect(try program.finish().status == 0)
        }

        /// Threads that were not stopped because they waited wake up while our code is installed or
        /// removed, and make exactly the calls that our code replaces.
        @Test func threadsThatWakeMeanwhile() throws {
            let (input, output) = (try Channel(), try Channel())
            var command = Command([try Setup.fixture("everything")])
            command.input = .descriptor(input.reader)
            command.output = output.writer
            let program = try command.start()
            input.closeReader()
            output.closeWriter()
            #expect(try output.line() == "ready")
            for _ in 1...60 where !program.hasEnded {
                let result = try Firstlight.command([
                    "attach", "--quiet", "-o", scratch("recording"), "--duration", "20ms",
                    String(program.pid),
                ]).run()
                #expect(result.status == 0, "\(result)")
            }
            try #require(!program.hasEnded, "it has ended")
            try input.write("x")
            #expect(try output.line()?.hasPrefix("on ") == true)
            input.closeWriter()
            _ = try program.finish()
        }
    }
}
