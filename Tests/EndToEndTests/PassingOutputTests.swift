import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// A program's watched output reaches its destination as without recording.
    @Suite struct PassingOutput {
        private let scratch: Scratch
        private let options = ["--quiet", "--until", "exit", "--until", "output:never to be seen"]

        init() throws { scratch = try Scratch() }

        private func record(_ script: String) throws -> Command {
            try Firstlight.recording(
                ["sh", "-c", script], to: scratch("recording"), options: options)
        }

        @Test func allOfItUnchanged() throws {
            let script = "seq 1 300000; seq 1 100000 >&2; exit 7"
            let alone = try Command(["sh", "-c", script]).run()
            #expect(try record(script).run() == alone)
        }

        /// Both streams lead to one pipe, and their order is kept.
        @Test func inOrderWhereTheStreamsAreOne() throws {
            let script = "for i in 1 2 3 4 5 6 7 8 9; do seq $i 500; seq $i 700 >&2; done"
            let text = try Channel()
            var command = try record(script)
            (command.output, command.error) = (text.writer, text.writer)
            let child = try command.start()
            text.closeWriter()
            let alone = try Command(["sh", "-c", "{ \(script); } 2>&1"]).run()
            #expect(try text.rest() == alone.output)
            #expect(try child.finish().status == 0)
        }

        /// The terminal notifies the program before our copy has the new size, so the program is
        /// notified again.
        @Test(.needs("python3")) func aNewSizeIsToldWhenItIsThere() throws {
            let program = """
                import os, signal
                def look(*_):
                    size = os.get_terminal_size(1)
                    if size.lines == 33: os._exit(5)
                signal.signal(signal.SIGWINCH, look)
                print("ready", flush=True)
                while True: signal.pause()
                """
            let terminal = """
                import fcntl, os, pty, struct, sys, termios
                child, screen = pty.fork()
                if child == 0: os.execv(sys.argv[1], sys.argv[1:])
                shown = b""
                while b"ready" not in shown: shown += os.read(screen, 100)
                fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 99, 0, 0))
                sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
                """
            let recording = try Firstlight.recording(
                ["python3", "-c", program], to: scratch("recording"), options: options)
            let result = try Command(["python3", "-c", terminal] + recording.words).run()
            #expect(result.status == 5, "\(result)")
        }

        @Test func aTerminalStaysOne() throws {
            let terminal = try Terminal()
            var command = try record("test -t 1 && test -t 2 && test ! -t 0; echo $?; seq 3 >&2")
            (command.output, command.error) = (terminal.user, terminal.user)
            #expect(try command.run().status == 0)
            #expect(terminal.shown() == "0\r\n1\r\n2\r\n3\r\n")
        }

        /// Programs check whether they would read their own output; with a pipe they could not see
        /// it.
        @Test func aFileStaysOne() throws {
            try scratch.write("text\n", to: "a")
            let words = [
                "sh", "-c", "exec \"$0\" \"$@\" >> a", try Setup.path(.firstlight), "record",
                "-o", scratch("recording"),
            ]
            // A limit, because the output could grow without end.
            let limit = ["bash", "-c", "ulimit -f 20000; exec \"$0\" \"$@\""]
            var command = Command(limit + words + options + ["cat", "a"])
            command.directory = scratch.folder
            let result = try command.run()
            #expect(result.status == 1)
            #expect(result.error.contains("input file is output file"), "\(result)")
            #expect(scratch.contents(of: "a") == "text\n")
        }

        /// New data in the file are noticed, but not older data.
        @Test(arguments: [">", ">>", "1<>"])
        func aFileIsWatched(redirection: String) throws {
            for (text, isWritten) in [("needle", true), ("text", false)] {
                try scratch.write("text\n", to: "a")
                let script = "exec \"$0\" \"$@\" \(redirection) a"
                let words = [
                    "sh", "-c", script, try Setup.path(.firstlight), "record", "--quiet", "-o",
                    scratch("recording"), "--until", "output:\(text)", "--after", "keep",
                    "sh", "-c", "seq 1 100000; echo a needle; exit 7",
                ]
                var command = Command(words)
                command.directory = scratch.folder
                let result = try command.run()
                #expect(result.status == 7, "\(result)")
                #expect(result.error.contains("before it was ready") == !isWritten, "\(result)")
                #expect(scratch.contents(of: "a")?.hasSuffix("100000\na needle\n") == true)
            }
        }

        /// We were started without a stream, and a library opened a file under its number. The
        /// program must not get this file.
        @Test(arguments: ["2>&-", ">&-", ">&- 2>&-"]) func aStreamThatIsMissing(
            redirection: String
        ) throws {
            let script = "exec \"$0\" \"$@\" \(redirection)"
            let program =
                "i=0; while [ $i -lt 5000 ]; do echo a; echo a >&2; i=$((i+1)); done; exit 3"
            let words = ["record", "-o", scratch("recording")] + options
            let result = try Command(
                ["sh", "-c", script, try Setup.path(.firstlight)] + words + ["sh", "-c", program]
            ).run()
            #expect(result.status == 3, "\(result)")
        }

        /// The device's errors could not be passed on.
        @Test func aDeviceIsRefused() throws {
            let script = "exec \"$0\" \"$@\" > /dev/full"
            let words = ["record", "-o", scratch("recording")] + options
            let result = try Command(
                ["sh", "-c", script, try Setup.path(.firstlight)] + words
                    + ["touch", scratch("marker")]
            ).run()
            #expect(result.isRefusal(125, mentioning: "device"), "\(result)")
            #expect(!scratch.has("marker"))
        }

        /// Before Linux 5.9 the relay closes the recorder's descriptors one by one. If it kept its
        /// own pipe's other end, it would wait for ever.
        @Test func endsWithoutCloseRange() throws {
            let output = try Channel()
            let command = try record("echo done")
            var without = Command([try Setup.fixture("without"), "close_range"] + command.words)
            without.output = output.writer
            let child = try without.start()
            output.closeWriter()
            #expect(try output.rest() == "done\n")
            #expect(try child.finish().status == 0)
        }

        @Test func aReaderThatLeaves() throws {
            let output = try Channel()
            var command = try record("trap '' PIPE; while echo y; do :; done 2>/dev/null; exit 5")
            command.output = output.writer
            let child = try command.start()
            output.closeWriter()
            #expect(try output.line() == "y")
            output.closeReader()
            // The program itself sees the error.
            #expect(try child.finish().status == 5)
        }

        /// A slow reader delays the program.
        @Test func backpressure() throws {
            let output = try Channel()
            var command = try record("exec yes")
            command.output = output.writer
            let child = try command.start()
            output.closeWriter()
            let pid = try Proc.waitFor("the program") {
                Proc.children(of: child.pid).first { Proc.program($0)?.hasSuffix("/yes") == true }
            }
            // write is call 1.
            try Proc.waitUntil("waiting for its reader") {
                Proc.contents("/proc/\(pid)/syscall")?.hasPrefix("1 ") == true
                    && Proc.state(pid) == "S"
            }
            output.closeReader()
            #expect(try child.finish().status == 128 + SIGPIPE)
        }

        @Test func aKilledRecorderTakesNothingAlong() throws {
            let (output, input) = (try Channel(), try Channel())
            var command = try record("echo begun; read line; seq 1 50000; echo end")
            command.output = output.writer
            command.input = .descriptor(input.reader)
            let child = try command.start()
            output.closeWriter()
            #expect(try output.line() == "begun")
            kill(child.pid, SIGKILL)
            _ = try child.finish()
            try input.write("go on\n")
            let alone = try Command(["sh", "-c", "seq 1 50000; echo end"]).run()
            #expect(try output.rest() == alone.output)
        }
    }
}
