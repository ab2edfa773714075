import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// Recordings that are ended from outside: by Ctrl-C, signals to the recorder, `--duration`.
    @Suite struct Endings {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// Our output is not read, but the recorder must end when asked to.
        @Test func unreadOutputDoesNotHoldTheRecorder() throws {
            let output = try Channel()
            let flags = fcntl(output.writer, F_GETFL)
            _ = fcntl(output.writer, F_SETFL, flags | O_NONBLOCK)
            let page = [UInt8](repeating: 0, count: 4096)
            while write(output.writer, page, page.count) > 0 {}
            _ = fcntl(output.writer, F_SETFL, flags)
            var command = try Firstlight.recording(["true"], to: scratch("recording"), options: [])
            command.error = output.writer
            let child = try command.start()
            // write is call 1.
            try Proc.waitUntil("waiting for its reader") {
                Proc.contents("/proc/\(child.pid)/syscall")?.hasPrefix("1 ") == true
                    && Proc.state(child.pid) == "S"
            }
            kill(child.pid, SIGTERM)
            #expect(try child.finish().end == .signalled(SIGTERM))
        }

        /// Counts its signals. After the first it goes on for a moment, so that a second, unwanted
        /// one would also be counted. Ends with 7.
        private static let counter = """
            $| = 1; my %got;
            for my $name ("INT", "TERM", "HUP", "QUIT") { $SIG{$name} = sub { $got{$name}++ } }
            print "ready\\n";
            select(undef, undef, undef, 0.05) until %got;
            select(undef, undef, undef, 0.2) for 1..2;
            print join(" ", map { "$_ $got{$_}" } sort keys %got), "\\n";
            exit 7;
            """

        private func report() throws -> LaunchReport {
            let finished = Finished(end: .exited(0), output: "", error: "")
            return try Recorded(path: scratch("recording"), finished: finished).json()
        }

        /// Records a program until it says `ready`, calls `act`, and returns the program's further
        /// output.
        private func record(
            _ program: [String], options: [String] = ["--quiet"], then act: (Child) throws -> Void
        ) throws -> Finished {
            let output = try Channel()
            var command = try Firstlight.recording(
                program, to: scratch("recording"), options: options)
            command.output = output.writer
            let child = try command.start()
            output.closeWriter()
            #expect(try output.line() == "ready")
            try act(child)
            let rest = try output.rest()
            var finished = try child.finish()
            finished.output = rest
            return finished
        }

        @Test(.needs("perl"), arguments: [SIGTERM, SIGHUP, SIGINT, SIGQUIT])
        func aSignalToTheRecorderReachesTheProgram(signal: Int32) throws {
            let names = [SIGTERM: "TERM", SIGHUP: "HUP", SIGINT: "INT", SIGQUIT: "QUIT"]
            let result = try record(["perl", "-e", Self.counter]) { kill($0.pid, signal) }
            #expect(result.output == "\(names[signal] ?? "") 1\n")
            #expect(result.status == 7)
            #expect(result.error == "")
            #expect(try report().phaseNames.last == "Main")
        }

        /// Recorder and program share a process group, so the program already has each signal to
        /// the group.
        @Test(.needs("perl"), arguments: [SIGTERM, SIGHUP, SIGINT, SIGQUIT])
        func aSignalToTheGroupIsNotPassedOn(signal: Int32) throws {
            let names = [SIGTERM: "TERM", SIGHUP: "HUP", SIGINT: "INT", SIGQUIT: "QUIT"]
            let result = try record(["perl", "-e", Self.counter]) { kill(-$0.pid, signal) }
            #expect(result.output == "\(names[signal] ?? "") 1\n")
            #expect(result.status == 7)
            #expect(result.error == "")
        }

        /// The same after the recording's end.
        @Test(.needs("perl"), arguments: [true, false])
        func aSignalToWhoeverWaitsForTheProgram(isForGroup: Bool) throws {
            let options = ["--duration", "50ms", "--quiet"]
            let result = try record(["perl", "-e", Self.counter], options: options) { child in
                try Proc.waitUntil("the end of the recording") { Proc.onlyWaits(child.pid) }
                kill(isForGroup ? -child.pid : child.pid, SIGTERM)
            }
            #expect(result.output == "TERM 1\n")
            #expect(result.status == 7)
        }

        /// timeout(1) signals the recorder, and then the group.
        @Test(.needs("perl")) func timeout() throws {
            let words = try Firstlight.recording(
                ["perl", "-e", Self.counter], to: scratch("recording")
            ).words
            let output = try Channel()
            var command = Command(["timeout", "-s", "TERM", "1000"] + words)
            command.output = output.writer
            let child = try command.start()
            output.closeWriter()
            #expect(try output.line() == "ready")
            // As its clock does when the time is over.
            kill(child.pid, SIGALRM)
            #expect(try output.rest() == "TERM 1\n")
            #expect(try child.finish().status == 124)
        }

        /// A program in its own group has not received the signals to ours.
        @Test(.needs("perl"), .needs("setsid")) func aProgramInAnotherGroup() throws {
            let result = try record(["setsid", "perl", "-e", Self.counter]) {
                kill(-$0.pid, SIGTERM)
            }
            #expect(result.output == "TERM 1\n")
            #expect(result.status == 7)
        }

        /// As with nohup(1), or if a shell starts something by `&`.
        @Test func ignoredSignalsEndNoRecording() throws {
            let (input, output) = (try Channel(), try Channel())
            let words = try Firstlight.recording(
                ["sh", "-c", "echo ready; read line; echo $line; exit 7"],
                to: scratch("recording")
            ).words
            let script = "trap '' HUP INT QUIT TERM TSTP; exec \"$@\""
            var command = Command(["sh", "-c", script, "sh"] + words)
            command.input = .descriptor(input.reader)
            command.output = output.writer
            let child = try command.start()
            output.closeWriter()
            #expect(try output.line() == "ready")
            for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP] { kill(child.pid, signal) }
            // All signals came before this line.
            try input.write("on\n")
            #expect(try output.rest() == "on\n")
            #expect(try child.finish().status == 7)
            // The recording went on to the program's end.
            #expect(try report().program.exitStatus == 7)
        }

        /// These signals are meant for the program, and end no recording. Unrecorded, they are sent
        /// to the program itself.
        @Test(.needs("perl"), arguments: [true, false])
        func messagesReachTheProgram(isRecorded: Bool) throws {
            let script = """
                use POSIX qw(:signal_h);
                $| = 1;
                for my $name ("USR1", "USR2", "ALRM") { $SIG{$name} = sub { print "$name\\n" } }
                # One that comes just before a wait must not be waited for.
                sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGUSR1, SIGUSR2, SIGALRM));
                print "ready\\n";
                sigsuspend(POSIX::SigSet->new) for 1..6;
                read STDIN, my $byte, 1;
                exit 7;
                """
            let program = ["perl", "-e", script]
            let (input, output) = (try Channel(), try Channel())
            var command =
                isRecorded
                ? try Firstlight.recording(program, to: scratch("recording")) : Command(program)
            (command.input, command.output) = (.descriptor(input.reader), output.writer)
            let child = try command.start()
            output.closeWriter()
            #expect(try output.line() == "ready")
            for (signal, name) in [(SIGUSR1, "USR1"), (SIGUSR2, "USR2"), (SIGALRM, "ALRM")] {
                kill(child.pid, signal)
                #expect(try output.line() == name)
                // A signal to the group also arrives, and only once.
                kill(-child.pid, signal)
                #expect(try output.line() == name)
            }
            try input.write("x")
            #expect(try output.rest() == "")
            #expect(try child.finish().status == 7)
            if isRecorded { #expect(try report().program.exitStatus == 7) }
        }

        /// exec keeps timers, fork does not.
        @Test(.needs("perl"), arguments: [true, false])
        func timersSetBeforeAreThePrograms(isRecorded: Bool) throws {
            let recorder = try Firstlight.recording([], to: scratch("recording")).words
            let before = """
                use Time::HiRes;
                Time::HiRes::setitimer($_, 1000, 7) for (0, 1, 2);
                exec @ARGV;
                """
            let script = """
                use Time::HiRes;
                for (0, 1, 2) {
                    my ($left, $interval) = Time::HiRes::getitimer($_);
                    print $left > 500 ? "kept" : "lost", " $interval\\n";
                }
                $SIG{ALRM} = sub { print "ALRM\\n"; exit 7 };
                Time::HiRes::setitimer(0, 0.001);
                sleep 1 while 1;
                """
            let program = ["perl", "-e", script]
            let words = ["perl", "-e", before] + (isRecorded ? recorder : []) + program
            let result = try Command(words).run()
            let kept = String(repeating: "kept 7\n", count: 3)
            #expect(result.output == kept + "ALRM\n", "\(result)")
            #expect(result.status == 7)
        }

        @Test func aProgramThatASignalEnds() throws {
            let pipe = try Channel()
            var command = try Firstlight.recording(
                [try Setup.fixture("sleeper")], to: scratch("recording"))
            command.input = .descriptor(pipe.reader)
            let child = try command.start()
            let program = try Proc.recordedProgram(
                of: child.pid, running: try Setup.fixture("sleeper"))
            try Proc.waitUntil("all threads") { Proc.tasks(program).count == 9 }
            kill(child.pid, SIGTERM)
            #expect(try child.finish().status == 143)
            // The recording ended with the request, so it does not contain what the program did
            // then.
            #expect(try report().phaseNames.last == "Main")
        }

        /// As the terminal does it: a signal to the whole foreground group.
        @Test(.needs("perl"), .needs("setsid")) func controlC() throws {
            let terminal = try Terminal()
            let words = try Firstlight.recording(
                ["perl", "-e", Self.counter], to: scratch("recording")
            ).words
            var command = Command(["setsid", "--ctty", "--wait"] + words)
            command.input = .descriptor(terminal.user)
            let output = try Channel()
            command.output = output.writer
            let child = try command.start()
            output.closeWriter()
            #expect(try output.line() == "ready")
            try terminal.type("\u{3}")
            #expect(try output.rest() == "INT 1\n")
            let result = try child.finish()
            #expect(result.status == 7, "\(result)")
            #expect(try report().phaseNames.last == "Main")
        }

        @Test(.needs("setsid")) func controlCEndsWhatDoesNotCatchIt() throws {
            let terminal = try Terminal()
            let words = try Firstlight.recording(
                ["sh", "-c", "echo ready; exec sleep 60"], to: scratch("recording")
            ).words
            var command = Command(["setsid", "--ctty", "--wait"] + words)
            command.input = .descriptor(terminal.user)
            let output = try Channel()
            command.output = output.writer
            let child = try command.start()
            output.closeWriter()
            #expect(try output.line() == "ready")
            try terminal.type("\u{3}")
            let result = try child.finish()
            #expect(result.status == 130, "\(result)")
            #expect(try report().launch.wallNs > 0)
        }

        @Test func aRecordingMayEndBeforeItsProgram() throws {
            let program = [try Setup.fixture("spin"), "2000000000"]
            let alone = try Command(program).run()
            let recorded = try Firstlight.recording(
                program, to: scratch("recording"), options: ["--duration", "200ms", "--quiet"]
            ).run()
            #expect(recorded == alone)
            let report = try self.report()
            #expect(report.program.exitStatus == nil && report.program.signal == nil)
            let sum = report.phases.reduce(0) { $0 + $1.wallNs }
            #expect(sum == report.launch.wallNs)
        }

        @Test func aProgramMayBeStoppedWithItsRecording() throws {
            let result = try Firstlight.recording(
                ["sleep", "60"], to: scratch("recording"),
                options: ["--duration", "200ms", "--after", "stop", "--quiet"]
            ).run()
            #expect(result.status == 143)
            #expect(try report().phaseNames.last == "Main")
        }

        /// The recording ends in the constructor. `main` comes later, and nothing of ours may be in
        /// its way.
        @Test func aRecordingThatEndsBeforeMain() throws {
            let program = [try Setup.fixture("groundtruth")]
            let alone = try Command(program).run()
            let recorded = try Firstlight.recording(
                program, to: scratch("recording"), options: ["--duration", "30ms", "--quiet"],
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth")]
            ).run()
            #expect(recorded == alone)
            let report = try self.report()
            let constructor = try #require(try scratch.truth()["constructor_cpu"])
            #expect(
                report.launch.wallNs > constructor || !report.phaseNames.contains("Main"))
        }

        /// Ctrl-Z and `fg`: the program stops, and goes on.
        @Test(.needs("perl")) func jobControl() throws {
            let script = "$| = 1; print qq(ready\\n); print scalar(<STDIN>); exit 7"
            let input = try Channel()
            var command = try Firstlight.recording(
                ["perl", "-e", script], to: scratch("recording"))
            let output = try Channel()
            (command.input, command.output) = (.descriptor(input.reader), output.writer)
            let child = try command.start()
            output.closeWriter()
            #expect(try output.line() == "ready")
            let pid = try #require(Proc.children(of: child.pid).first)
            kill(pid, SIGSTOP)
            try Proc.waitUntil("stopping") { "Tt".contains(Proc.state(pid) ?? "?") }
            try input.write("again\n")
            kill(pid, SIGCONT)
            #expect(try output.rest() == "again\n")
            #expect(try child.finish().status == 7)
        }

        /// A shell stops and continues its jobs: its terminal must show the same as without
        /// recording.
        @Test(
            .needs("bash"), .needs("setsid"),
            arguments: [[], ["--follow-children"], ["--capture", "ptrace"]])
        func jobsOfAShell(options: [String]) throws {
            let shell = ["bash", "--norc", "--noediting", "-i"]
            let recorded = try Firstlight.recording(
                shell, to: scratch("recording"), options: ["--quiet"] + options)
            let alone = try transcript(of: shell)
            try #require(alone.text.contains("STaTe:\tT"), "\(alone)")
            let result = try transcript(of: recorded.words)
            #expect(result.text == alone.text)
            #expect(result.status == alone.status && result.status == 3)
            #expect(try report().brokenSums.isEmpty)
        }

        /// The terminal's text while the user stops a job of two processes twice, and ends it.
        private func transcript(of words: [String]) throws -> (text: String, status: Int32?) {
            let terminal = try Terminal()
            var command = Command(
                ["setsid", "--ctty", "--wait"] + words,
                adding: ["PS1": "> ", "TERM": "dumb", "HISTFILE": "", "LC_ALL": "C"])
            command.input = .descriptor(terminal.user)
            (command.output, command.error) = (terminal.user, terminal.user)
            let child = try command.start()
            var text = try terminal.shown(until: "> ")
            let (stop, end) = ("\u{1A}", "\u{3}")
            for (keys, answer) in [
                ("(while read x; do echo got $x; done) | cat\n", "| cat\r\n"),
                ("one\n", "got one\r\n"), (stop, "\r\n> "), ("jobs\n", "\r\n> "),
                // A traced process has the state `t`.
                ("grep -io state:.t /proc/$(jobs -p)/status | tr t T\n", "\r\n> "),
                ("fg\n", "| cat\r\n"), ("two\n", "got two\r\n"), (stop, "\r\n> "),
                ("fg\n", "| cat\r\n"), ("three\n", "got three\r\n"), (end, "\r\n> "),
                ("jobs; echo done\n", "\r\n> "), ("exit 3\n", "\r\nexit\r\n"),
            ] {
                try terminal.type(keys)
                text += try terminal.shown(until: answer)
            }
            let status = try child.finish().status
            return (text + terminal.shown(), status)
        }

        /// Reading memory whose page faults are not served would take for ever.
        @Test(
            .enabled(if: geteuid() == 0, "only root may leave the kernel's faults unserved"),
            arguments: ["ptrace", "signal"], [[], ["shared"]])
        func memoryThatNobodyServes(capture: String, words: [String]) throws {
            let (input, output) = (try Channel(), try Channel())
            let path = scratch("recording")
            var command = try Firstlight.recording(
                [try Setup.fixture("unserved")] + words, to: path,
                options: ["--quiet", "--capture", capture])
            command.input = .descriptor(input.reader)
            command.output = output.writer
            let recorder = try command.start()
            input.closeReader()
            output.closeWriter()
            #expect(try output.line() == "ready")
            // It computes for a while, in sight of the recorder.
            let program = try #require(Proc.children(of: recorder.pid).first)
            let before = try #require(Proc.cpuTime(program))
            try Proc.waitUntil("CPU time") {
                (Proc.cpuTime(program) ?? .max) > before + 100_000_000
            }
            input.closeWriter()
            #expect(try output.line() == "done")
            let finished = try recorder.finish()
            #expect(finished.status == 0, "\(finished)")
            let report = try Recorded(path: path, finished: finished).json()
            #expect(report.launch.wallNs > 0)
        }

        /// Writing to a pipe without a reader takes for ever. A recorder must still end when asked
        /// to.
        @Test func anOutputThatNobodyReads() throws {
            let output = try Channel()
            output.fill()
            var command = try Firstlight.recording(
                [try Setup.fixture("static")], to: scratch("recording"), options: [])
            command.error = output.writer
            let recorder = try command.start()
            try Proc.waitUntil("a write that does not end") {
                // write
                Proc.contents("/proc/\(recorder.pid)/syscall")?.hasPrefix("1 ") == true
            }
            kill(recorder.pid, SIGINT)
            #expect(try recorder.finish().end == .signalled(SIGINT))
        }
    }
}
