import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// The scripts of `--completions`, each in its shell.
    @Suite struct Completions {
        private let scratch: Scratch
        private static let shells = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Shells")

        init() throws {
            scratch = try Scratch()
            for name in ["launch.firstlight", "other.firstlight", "perf.data", "app"] {
                try Data().write(to: URL(filePath: scratch(name)))
            }
            chmod(scratch("app"), 0o755)
        }

        /// What the shell offers, if its arguments are the words of a command line.
        private func offers(_ shell: String, _ options: [String], _ words: [String]) throws
            -> Set<String>
        {
            let script = scratch("_firstlight.\(shell)")
            let text = try Firstlight.command(["--completions", shell]).run()
            #expect(text.status == 0 && text.error == "")
            try text.output.write(toFile: script, atomically: true, encoding: .utf8)
            let reader = Self.shells.appending(path: "complete.\(shell)").path
            var command = Command([shell] + options + [reader, script] + words)
            command.directory = scratch.folder
            let finished = try command.run()
            #expect(finished.error == "" && finished.status == 0)
            return Set(finished.output.split(separator: "\n").map(String.init))
        }

        /// A line, the words that must be offered at its end, and one that must not.
        static let lines: [(String, offered: [String], not: String)] = [
            ("", ["record", "export", "help"], "--frequency"),
            ("re", ["record", "report"], "export"),
            ("help a", ["attach"], "record"),
            ("record --ca", ["--capture"], "--quiet"),
            ("record --capture ", ["signal", "ptrace"], "perf"),
            ("record --until li", ["listen"], "exit"),
            ("record -F 100 fals", ["false"], "--after"),
            ("record ./app --", [], "--quiet"),
            ("record ./app perf.d", ["perf.data"], "--quiet"),
            ("measure --co", ["--cold"], "--capture"),
            ("gate --max", ["--max-launches", "--max-regression"], "--launches"),
            ("measure --until li", ["listen"], "exit"),
            ("measure -n 5 fals", ["false"], "--after"),
            ("measure --cold fals", ["false"], "all"),
            ("measure ./app --", [], "--quiet"),
            ("attach --", ["--wait"], "--after"),
            ("report ", ["launch.firstlight", "other.firstlight"], "--view"),
            ("report o", ["other.firstlight"], "launch.firstlight"),
            ("report launch.firstlight --vi", ["--view"], "--weight"),
            ("report --view crit", ["critical-path"], "findings"),
            ("export --format sp", ["speedscope"], "svg"),
            ("export --phase Main ", ["launch.firstlight"], "svg"),
            ("top launch.firstlight ", ["other.firstlight"], "--depth"),
            ("top --resolve", ["--resolve", "--resolved"], "--phase"),
            ("import ", ["perf.data"], "record"),
            ("doctor --f", ["--format"], "--help"),
        ]

        private func check(
            _ found: Set<String>, _ line: (String, offered: [String], not: String)
        ) {
            #expect(found.isSuperset(of: line.offered), "\(line.0): \(found)")
            #expect(!found.contains(line.not), "\(line.0): \(found)")
        }

        @Test(.needs("bash")) func bash() throws {
            for line in Self.lines {
                let words = line.0.split(separator: " ", omittingEmptySubsequences: false)
                check(
                    try offers("bash", ["--norc"], ["firstlight"] + words.map(String.init)), line)
            }
            // Bash divides words like this.
            for (words, offered) in [(["="], ["signal", "ptrace"]), (["=", "p"], ["ptrace"])] {
                let line = ["firstlight", "record", "--capture"] + words
                #expect(try offers("bash", ["--norc"], line) == Set(offered))
            }
            let optional = ["firstlight", "measure", "--cold", "=", "all"]
            #expect(try offers("bash", ["--norc"], optional.dropLast()) == ["all", "copies"])
            #expect(try offers("bash", ["--norc"], optional + ["./a"]) == ["./app"])
            #expect(try offers("bash", ["--norc"], ["firstlight", "record", "./a"]) == ["./app"])
            let recordings = try offers("bash", ["--norc"], ["firstlight", "fold", ""])
            #expect(recordings == ["launch.firstlight", "other.firstlight"])
        }

        @Test(.needs("zsh")) func zsh() throws {
            for line in Self.lines {
                check(try offers("zsh", ["-f"], ["firstlight " + line.0]), line)
            }
            let recordings = try offers("zsh", ["-f"], ["firstlight fold "])
            #expect(recordings == ["launch.firstlight", "other.firstlight"])
        }

        @Test(.needs("fish")) func fish() throws {
            for line in Self.lines {
                check(try offers("fish", ["--no-config"], ["firstlight " + line.0]), line)
            }
            let line = ["firstlight record ./a"]
            #expect(try offers("fish", ["--no-config"], line) == ["./app"])
        }

        @Test func anUnknownShell() throws {
            let finished = try Firstlight.run("--completions", "csh")
            #expect(finished.isRefusal(2, mentioning: "--completions must be bash, zsh or fish"))
        }
    }

    /// The manual pages, checked by a strict reader.
    @Suite struct ManualPages {
        @Test(.needs("mandoc")) func areClean() throws {
            let overview = try page([])
            let subcommands = overview.matches(of: #/firstlight\\-([a-z]+) \(1\)/#).map(\.1)
            #expect(subcommands.count >= 16)
            try check(overview)
            for subcommand in Set(subcommands) { try check(page([String(subcommand)])) }
        }

        private func page(_ subcommand: [String]) throws -> String {
            let page = try Firstlight.command(["--manual-page"] + subcommand).run()
            #expect(page.status == 0)
            return page.output
        }

        private func check(_ page: String) throws {
            var command = Command(["mandoc", "-T", "lint", "-W", "style"])
            command.input = .text(page)
            let finished = try command.run()
            #expect(finished.status == 0 && finished.output + finished.error == "", "\(finished)")
        }
    }
}
