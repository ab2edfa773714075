import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// Launches that are over before the program ends: the moment, and what happens to the program.
    @Suite(.needs("python3")) struct Ready {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// `record` of the fixture `ready`.
        private func command(
            until condition: String, _ how: [String], options: [String] = []
        ) throws -> Command {
            try Firstlight.recording(
                [try Setup.fixture("ready")] + how, to: scratch("recording"),
                options: ["--quiet", "--until", condition] + options,
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
        }

        /// The fixture notes the time just before it becomes ready: the launch is not over earlier.
        @Test(
            arguments: [
                ("notify", ["notify"]), ("notify", ["notify", "other"]),
                ("notify", ["notify", "daemon"]),
                ("listen", ["tcp", "0"]),
                ("listen", ["tcp6", "0"]), ("listen", ["unix", "socket"]),
                ("listen", ["swap", "0"]),
                ("output:serving", ["output", "serving"]),
                ("output:serving", ["error", "serving"]),
                ("output", ["output", "serving"]), ("idle:100ms", ["idle"]),
            ])
        func theMomentIsRight(condition: String, how: [String]) throws {
            unlink(scratch("socket"))
            var command = try command(until: condition, how)
            command.directory = scratch.folder
            let result = try command.run()
            #expect(result.status == 0, "\(result)")
            #expect(result.error.contains("ready (\(condition))"))
            let ready = try #require(try StoredReadiness(of: scratch("recording")))
            #expect(ready.condition == condition)
            let truth = try #require(try scratch.truth()["ready_at"])
            // The fixture writes its first byte 50 ms before the moment that it notes.
            let isEarly = condition == "output"
            if !isEarly { #expect(ready.nanoseconds >= truth - 100_000) }
        }

        /// A script starts a server, and waits for it. If its children do not count, the launch is
        /// over only when the program ends.
        @Test(arguments: [("listen", "tcp 0"), ("listen", "unix socket")])
        func aChildMayBeReady(condition: String, how: String) throws {
            let script = """
                "$0" \(how) & child=$!; trap 'kill $child' TERM; wait; wait
                """
            unlink(scratch("socket"))
            var command = try Firstlight.recording(
                ["sh", "-c", script, try Setup.fixture("ready")], to: scratch("recording"),
                options: ["--quiet", "--until", condition, "--follow-children"],
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
            command.directory = scratch.folder
            let result = try command.run()
            #expect(result.status == 0, "\(result)")
            let ready = try #require(try StoredReadiness(of: scratch("recording")))
            #expect(ready.condition == condition)
            let truth = try #require(try scratch.truth()["ready_at"])
            #expect(ready.nanoseconds >= truth - 100_000)
        }

        /// A display accepts a connection but never answers. The recorder must still end when asked
        /// to.
        @Test(arguments: [true, false]) func aDisplayThatDoesNotAnswer(isInterrupted: Bool) throws {
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            defer { close(listener) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            // X11's displays have ports from 6000 on.
            let display = (500..<600).first { display in
                address.sin_port = in_port_t(6000 + display).bigEndian
                return withUnsafeBytes(of: &address) { bytes in
                    bind(
                        listener, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress,
                        socklen_t(bytes.count)) == 0
                }
            }
            try #require(listen(listener, 4) == 0)
            let child = try Firstlight.recording(
                ["touch", scratch("touched")], to: scratch("recording"),
                options: ["--quiet", "--until", "window"],
                adding: ["DISPLAY": "127.0.0.1:\(try #require(display))"]
            ).start()
            let client = accept(listener, nil, nil)
            defer { close(client) }
            if isInterrupted { kill(child.pid, SIGINT) }
            let result = try child.finish()
            #expect(result.isRefusal(125, mentioning: "X server", "does not answer"), "\(result)")
            #expect(access(scratch("touched"), F_OK) != 0)
        }

        @Test func aPortThatIsNotTheOne() throws {
            // Port 1 does not belong to this program, so `idle` counts instead.
            let result = try command(
                until: "listen:1", ["tcp", "0"], options: ["--until", "idle:100ms"]
            ).run()
            #expect(result.status == 0)
            #expect(try StoredReadiness(of: scratch("recording"))?.condition == "idle:100ms")
        }

        @Test func aBarrierIsPassed() throws {
            let result = try command(until: "notify", ["barrier"], options: ["--after", "keep"])
                .start()
            let program = try Setup.fixture("ready")
            let pid = try Proc.recordedProgram(of: result.pid, running: program)
            let truth = try Proc.waitFor("the truth") { try? scratch.truth()["barrier"] }
            #expect(truth == 1)
            kill(pid, SIGTERM)
            // The program was kept, so its status is its own.
            #expect(try result.finish().status == 3)
        }

        /// Messages are passed on with their descriptors: here a recorder runs under a recorder.
        @Test func messagesArePassedOn() throws {
            let outer = try Firstlight.recording(
                [try Setup.path(.firstlight), "record", "--quiet", "-o", scratch("inner")]
                    + ["--until", "notify", "--after", "keep", "--"]
                    + [try Setup.fixture("ready"), "barrier"],
                to: scratch("recording"), options: ["--quiet", "--until", "notify"],
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth")]
            ).run()
            #expect(outer.status == 0, "\(outer)")
            #expect(try StoredReadiness(of: scratch("recording"))?.condition == "notify")
            #expect(try scratch.truth()["barrier"] == 1)
        }

        /// Also from a daemon, which is no longer a descendant.
        @Test func aDaemonsMessageIsPassedOn() throws {
            let outer = try Firstlight.recording(
                [try Setup.path(.firstlight), "record", "--quiet", "-o", scratch("inner")]
                    + ["--until", "notify", "--", try Setup.fixture("ready"), "notify", "daemon"],
                to: scratch("recording"), options: ["--quiet", "--until", "notify"],
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth")]
            ).run()
            #expect(outer.status == 0, "\(outer)")
            #expect(try StoredReadiness(of: scratch("recording"))?.condition == "notify")
        }

        @Test func recordingGoesOnForAWhile() throws {
            let result = try command(
                until: "notify", ["notify"], options: ["--extended", "150ms"]
            ).run()
            #expect(result.status == 0)
            let ready = try #require(try StoredReadiness(of: scratch("recording")))
            let marks = try StoredRows("marks", of: scratch("recording"))
            let last = try #require(marks.numbers("time_ns").max())
            #expect(last - ready.nanoseconds >= 150_000_000)
        }

        @Test func aProgramThatEndsTooSoon() throws {
            let result = try Firstlight.recording(
                ["sh", "-c", "exit 9"], to: scratch("recording"),
                options: ["--quiet", "--until", "notify"]
            ).run()
            #expect(result.isRefusal(9, mentioning: "ended before it was ready (notify)"))
            #expect(try StoredReadiness(of: scratch("recording")) == nil)
            let report = try Firstlight.run("report", scratch("recording")).output
            #expect(report.contains(", never ready · ") && !report.contains("launched in"))
            #expect(report.contains("exited with status 9"))
        }

        /// What the program does last before its end counts, however soon it ends.
        @Test(arguments: 1...5) func aLastWord(run: Int) throws {
            let result = try Firstlight.recording(
                ["sh", "-c", "echo ready; exit 9"], to: scratch("recording"),
                options: ["--quiet", "--until", "output:ready"]
            ).run()
            #expect(result.output == "ready\n")
            #expect(result.status == 9 || result.status == 0)
            let ready = try StoredReadiness(of: scratch("recording"))
            #expect(ready?.condition == "output:ready")
        }

        /// Messages are passed on to a service manager. If it hangs, this delays nothing.
        @Test(.needs("python3")) func aServiceManagerThatHangs() throws {
            let script = """
                import os, socket, subprocess, sys
                manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
                name = "firstlight-test-%d" % os.getpid()
                manager.bind("\\0" + name)
                sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
                sender.setblocking(False)
                try:
                    while True: sender.sendto(b"x", "\\0" + name)
                except BlockingIOError: pass
                sys.exit(subprocess.call(sys.argv[1:], env=dict(os.environ, NOTIFY_SOCKET="@" + name)))
                """
            let program = """
                import os, socket
                sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
                for _ in range(3): sender.sendto(b"STATUS=x", "\\0" + os.environ["NOTIFY_SOCKET"][1:])
                os._exit(9)
                """
            let command = try Firstlight.recording(
                ["python3", "-c", program], to: scratch("recording"),
                options: ["--quiet", "--until", "notify"])
            let result = try Command(["python3", "-c", script] + command.words).run()
            #expect(result.isRefusal(9, mentioning: "ended before it was ready"), "\(result)")
        }

        @Test func aProcessThatListensAlready() throws {
            let (output, truth) = (try Channel(), scratch("truth"))
            var program = Command(
                [try Setup.fixture("ready"), "tcp", "0"], adding: ["FIRSTLIGHT_TRUTH": truth])
            program.output = output.writer
            let child = try program.start()
            _ = try Proc.waitFor("listening") { try? scratch.truth()["ready_at"] }
            let words = ["attach", "--quiet", "-o", scratch("recording"), "--until", "listen"]
            let result = try Firstlight.command(words + [String(child.pid)]).run()
            #expect(result == Finished(end: .exited(0), output: "", error: ""))
            #expect(try StoredReadiness(of: scratch("recording"))?.condition == "listen")
            kill(child.pid, SIGTERM)
            #expect(try child.finish().status == 3)
        }

        @Test func withoutADisplay() throws {
            var command = try command(until: "window", ["idle"])
            command.environment["DISPLAY"] = nil
            let refused = try command.run()
            #expect(refused.isRefusal(125, mentioning: "window", "DISPLAY is not set"))
            #expect(!scratch.has("recording"))
        }

        /// A library of that name which the dynamic linker refuses: were it linked, nothing would start.
        @Test func withoutXCB() throws {
            try scratch.write("", to: "libxcb.so.1")
            var command = try command(until: "window", ["idle"])
            command.environment["LD_LIBRARY_PATH"] = scratch.folder
            command.environment["DISPLAY"] = ":1"
            let refused = try command.run()
            #expect(refused.isRefusal(125, mentioning: "window", ":1", "libxcb.so.1"))
            #expect(!scratch.has("recording"))
            command = try self.command(until: "listen", ["tcp", "0"])
            command.environment["LD_LIBRARY_PATH"] = scratch.folder
            #expect(try command.run().status == 0)
        }
    }
}
