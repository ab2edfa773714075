import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// The progress line of a recording, as a terminal shows it.
    @Suite struct LiveLines {
        private let scratch: Scratch
        private let terminal: Terminal
        /// Keeps the fixture `sleeper` waiting.
        private let input: Channel

        private static let wipe = "\r\u{1b}[K"

        /// Whether a running recording showed its line. When the program is over, the line about slow
        /// lookups may stand.
        private static func hasProgress(_ shown: String) -> Bool {
            shown.contains(#/samples?\u{1b}\[K/#)
        }

        init() throws {
            scratch = try Scratch()
            terminal = try Terminal()
            input = try Channel()
        }

        /// The fixture `sleeper` with its output to `output`, until its input is closed.
        private func program(output: Int32?) throws -> Child {
            var command = Command([try Setup.fixture("sleeper")])
            command.input = .descriptor(input.reader)
            (command.output, command.error) = (output, output)
            return try command.start()
        }

        private func attach(
            _ program: Child, _ options: String..., adding variables: [String: String] = [:]
        ) throws -> Child {
            var command = try Firstlight.command(
                ["attach", "-o", scratch("recording")] + options + [String(program.pid)],
                adding: ["TERM": "xterm"].merging(variables) { $1 })
            command.error = terminal.user
            return try command.start()
        }

        private func recording(_ words: [String], _ options: String...) throws -> Command {
            var command = try Firstlight.recording(
                words, to: scratch("recording"), options: options, adding: ["TERM": "xterm"])
            command.input = .descriptor(input.reader)
            (command.output, command.error) = (terminal.user, terminal.user)
            return command
        }

        @Test func standsAndIsWiped() throws {
            let program = try program(output: nil)
            let recorder = try attach(program)
            let line = #/\rfirstlight: Attached, \d+\.\d s, \d+ threads?, [\d,]+ samples?\u{1b}\[K/#
            let first = try terminal.shown(until: "\u{1b}[K")
            #expect(first.firstMatch(of: line) != nil, "\(first)")
            let second = try terminal.shown(until: "\u{1b}[K")
            #expect(second.firstMatch(of: line) != nil, "\(second)")
            kill(recorder.pid, SIGINT)
            #expect(try recorder.finish().status == 0)
            let rest = terminal.shown()
            // The summary is the first text that stays.
            let kept = try #require(rest.range(of: Self.wipe, options: .backwards))
            #expect(rest[kept.upperBound...].hasPrefix("sleeper"), "\(rest)")
            input.closeWriter()
            #expect(try program.finish().status == 0)
        }

        @Test func neverStandsOnTheProgramsTerminal() throws {
            let finished = try recording([try Setup.fixture("spin"), "800000000"]).run()
            #expect(finished.status == 0)
            let shown = terminal.shown()
            #expect(shown.contains("launched in") && !Self.hasProgress(shown), "\(shown)")
        }

        @Test func norOnThatOfAnotherProcess() throws {
            let program = try program(output: terminal.user)
            let finished = try attach(program, "--duration", "700ms").finish()
            #expect(finished.status == 0)
            #expect(!terminal.shown().contains("\u{1b}[K"))
        }

        @Test func standsWhereTheProgramWritesElsewhere() throws {
            let script = "exec >/dev/null 2>&1; exec \(try Setup.fixture("sleeper"))"
            let recorder = try recording(["sh", "-c", script]).start()
            _ = try terminal.shown(until: "firstlight: Main, ")
            input.closeWriter()
            #expect(try recorder.finish().status == 0)
            #expect(terminal.shown().contains(Self.wipe))
        }

        @Test func standsEverywhereIfWanted() throws {
            let recorder = try recording([try Setup.fixture("sleeper")], "--progress").start()
            _ = try terminal.shown(until: "firstlight: Main, ")
            input.closeWriter()
            #expect(try recorder.finish().status == 0)
            #expect(terminal.shown().contains(Self.wipe))
        }

        /// The relay's terminal is another one, but its output comes to ours.
        @Test func aRelayedProgramHasTheTerminal() throws {
            let finished = try recording(
                [try Setup.fixture("spin"), "800000000"], "--until", "exit", "--until",
                "output:never to be seen"
            ).run()
            #expect(finished.status == 0)
            #expect(!Self.hasProgress(terminal.shown()))
        }

        @Test(arguments: [["--quiet"], ["TERM=dumb"]]) func isLeftOut(how: [String]) throws {
            let program = try program(output: nil)
            let options = how.filter { $0.hasPrefix("-") }
            var command = try Firstlight.command(
                ["attach", "-o", scratch("recording"), "--duration", "700ms"] + options
                    + [String(program.pid)],
                adding: ["TERM": options.isEmpty ? "dumb" : "xterm"])
            command.error = terminal.user
            #expect(try command.run().status == 0)
            #expect(!terminal.shown().contains("\r\u{1b}"))
            #expect(terminal.shown().isEmpty || options.isEmpty)
        }
    }
}
