import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// `measure`: all that a launch leaves behind is gone before the next one, and at the end.
    @Suite struct MeasureCleaning {
        private let scratch: Scratch
        private let nap = Nap()

        init() throws { scratch = try Scratch() }

        private func command(_ words: [String]) throws -> Command {
            var command = try Firstlight.command(
                ["measure", "-o", scratch("launches"), "-n", "2"] + words)
            command.directory = scratch.folder
            return command
        }

        private func lines(_ name: String) -> [String] {
            (scratch.contents(of: name) ?? "").split(separator: "\n").map(String.init)
        }

        private static func isThere(_ pid: String) throws -> Bool {
            kill(try #require(Int32(pid)), 0) == 0
        }

        /// The program notes its id, and each SIGTERM. `begin` starts it; the outer shell learns
        /// through a pipe that it is ready for SIGTERM.
        private func program(_ begin: String) throws -> [String] {
            try #require(mkfifo(scratch("there"), 0o600) == 0)
            try scratch.write(
                """
                trap 'echo $$ >> ended; exit' TERM
                echo $$ >> begun
                echo > there
                \(nap.command) & wait
                """, to: "left.sh")
            return ["--", "sh", "-c", "\(begin) sh left.sh > /dev/null 2>&1 & read x < there"]
        }

        /// Each program gets one SIGTERM, and is gone before the next launch.
        private func expectEndedOnce() throws {
            let begun = lines("begun")
            #expect(begun.count == 3 && Set(begun).count == 3)
            #expect(lines("ended") == begun)
            for pid in begun { #expect(try !Self.isThere(pid)) }
            #expect(try !nap.isRunning)
        }

        @Test(.needs("pgrep")) func aChild() throws {
            let finished = try command(program("")).run()
            #expect(finished.status == 0 && finished.error == "", "\(finished)")
            try expectEndedOnce()
        }

        /// Its parent gets SIGTERM, too, and is gone first.
        @Test(.needs("pgrep")) func aGrandchild() throws {
            let finished = try command(program("sh -c 'sh left.sh & wait'")).run()
            #expect(finished.status == 0 && finished.error == "", "\(finished)")
            try expectEndedOnce()
        }

        @Test(.needs("pgrep"), .needs("perl")) func aGroupOfItsOwn() throws {
            let finished = try command(program("perl -e 'setpgrp; exec @ARGV'")).run()
            #expect(finished.status == 0 && finished.error == "", "\(finished)")
            try expectEndedOnce()
        }

        @Test(.needs("pgrep"), .needs("setsid")) func aDaemon() throws {
            let words = try program("setsid -f")
            let named = try command(words).run()
            // The program and its child, once each.
            #expect(named.status == 0 && named.complaints.count == 2, "\(named)")
            #expect(named.error.contains("daemon sh (") && named.error.contains("--clean"))
            let begun = lines("begun")
            #expect(begun.count == 3 && lines("ended").isEmpty)
            for pid in begun { #expect(try Self.isThere(pid)) }
            try nap.end()
            for name in ["begun", "ended"] { try scratch.write("", to: name) }
            let ended = try command(["--clean"] + words).run()
            #expect(ended.status == 0 && ended.error == "", "\(ended)")
            #expect(lines("begun").count == 3 && lines("ended") == lines("begun"))
            for pid in lines("begun") { #expect(try !Self.isThere(pid)) }
        }

        /// A program that goes to the background is not waited for.
        @Test(.needs("setsid"), .needs("pgrep")) func aProgramThatGoesToTheBackground() throws {
            let nap = Nap()
            let words = ["--clean", "--until", "listen", "setsid", "-f"] + nap.words
            let finished = try command(words).run()
            #expect(finished.status == 1, "\(finished)")
            #expect(finished.complaints.last?.contains("stays in the foreground") == true)
            #expect(try !nap.isRunning)
        }

        /// The program is ready, and goes on. It and its child get one SIGTERM each.
        @Test(.needs("pgrep")) func aProgramThatGoesOn() throws {
            let words = try program("")
            let script = words[3] + "; trap 'echo end >> program; exit' TERM; echo ready; wait"
            let finished = try command(["--until", "output:ready", "--", "sh", "-c", script]).run()
            #expect(finished.status == 0 && finished.error == "", "\(finished)")
            try expectEndedOnce()
            #expect(lines("program") == ["end", "end", "end"])
        }

        /// Ctrl-C in the middle.
        @Test(.needs("pgrep"), .needs("setsid")) func interruption() throws {
            try #require(mkfifo(scratch("go"), 0o600) == 0)
            let words = try program("setsid -f")
            let script = words[3] + "; echo go > go; \(nap.command)"
            let child = try command(["--clean", "--", "sh", "-c", script]).start()
            let go = try FileHandle(forReadingFrom: URL(fileURLWithPath: scratch("go")))
            #expect(!go.availableData.isEmpty)
            kill(child.pid, SIGINT)
            let finished = try child.finish()
            #expect(finished.status == 130, "\(finished)")
            #expect(lines("begun").count == 1 && lines("ended") == lines("begun"))
            #expect(try !nap.isRunning)
        }

        /// What the user's commands leave behind is ended, too, even if they failed.
        @Test(.needs("pgrep")) func commands() throws {
            let nap = Nap()
            let left = "\(nap.command) > /dev/null 2>&1 &"
            let finished = try command(["--before", left, "true"]).run()
            #expect(finished.status == 0, "\(finished)")
            let failing = try command(["--before", left + " exit 3", "true"]).run()
            #expect(failing.status == 1, "\(failing)")
            #expect(try !nap.isRunning)
        }
    }
}
