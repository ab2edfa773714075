import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// `gate`: its verdicts, and how it ends.
    @Suite struct Gating {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func gate(_ words: [String], limit: TimeInterval = 300) throws -> Finished {
            var command = try Firstlight.command(["gate"] + words)
            command.directory = scratch.folder
            return try command.run(limit: limit)
        }

        private struct Report: Decodable {
            struct Phase: Decodable {
                var name: String
                var differenceNs: Double
                var differenceLowNs: Double
            }

            struct Comparison: Decodable { var pairs: Int }
            struct Stored: Decodable { var reason: String }

            var schema: Int
            var kind: String
            var verdict: String
            var status: Int32
            var text: String
            var basis: String
            var comparison: Comparison?
            var stored: Stored?
            var phase: String?
            var phases: [Phase]
        }

        private func report(_ finished: Finished) throws -> Report {
            let report = try JSONDecoder().decode(Report.self, from: Data(finished.output.utf8))
            #expect(report.schema == 1 && report.kind == "gate")
            #expect(report.status == finished.status)
            return report
        }

        /// `phased`, which computes for the given microseconds in each phase.
        private func phased(_ times: Int...) throws -> [String] {
            [try Setup.fixture("phased")] + times.map(String.init)
        }

        private func baseline(_ words: [String]) -> [String] {
            ["--baseline", words.map { "'\($0)'" }.joined(separator: " ")]
        }

        // MARK: - Answers

        /// The verdict is never a regression, however busy the machine is.
        @Test func aProgramAgainstItself() throws {
            let program = try phased(2_000, 2_000, 4_000)
            let finished = try gate(
                baseline(program) + ["--format", "json", "--max-launches", "20", "--"] + program)
            #expect([0, 3].contains(finished.status), "\(finished)")
            let report = try report(finished)
            #expect(report.verdict == (finished.status == 0 ? "passed" : "inconclusive"))
            #expect(report.phase == nil && report.basis == "turns")
            // No file is written unless requested.
            #expect(scratch.names.isEmpty)
        }

        /// Some fifty times as long: no other work on the machine makes up for that.
        @Test(
            arguments: [
                ("Dynamic linking", [300_000, 2_000, 2_000]),
                ("Static initialisers", [2_000, 300_000, 2_000]),
                ("Main", [2_000, 2_000, 300_000]),
            ]) func aPlantedRegression(phase: String, times: [Int]) throws
        {
            let before = try phased(2_000, 2_000, 2_000)
            let program = [before[0]] + times.map(String.init)
            let finished = try gate(
                baseline(before) + ["--format", "json", "--junit", "gate.xml", "--"] + program)
            let report = try report(finished)
            #expect(finished.status == 1, "\(finished)")
            #expect(report.verdict == "regression")
            #expect(report.phase == phase)
            #expect(report.text.contains("it comes from \(phase): +"))
            let found = try #require(report.phases.first { $0.name == phase })
            #expect(found.differenceLowNs > 0 && found.differenceLowNs <= found.differenceNs)
            #expect(scratch.contents(of: "gate.xml")?.contains("<failure ") == true)
        }

        @Test func text() throws {
            let program = try phased(0, 0, 3_000)
            let before = try phased(0, 0, 300_000)
            let finished = try gate(baseline(before) + ["--max-launches", "7", "--"] + program)
            // One stall of a busy machine in seven pairs leaves it open.
            #expect([0, 3].contains(finished.status), "\(finished)")
            #expect(finished.output.hasPrefix("passed: ") == (finished.status == 0))
            #expect(finished.output.contains("7 pairs of launches"))
            #expect(finished.error == "")
            let quiet = try gate(
                baseline(before) + ["--quiet", "--max-launches", "7", "--"] + program)
            #expect(quiet.output == "" && quiet.error == "")
        }

        /// Two kinds of launches, far apart: there can be no verdict.
        @Test func inconclusive() throws {
            let count = scratch("count")
            let program = try phased(0, 0, 3_000, 600_000) + [count]
            let finished = try gate(
                baseline(try phased(0, 0, 200_000))
                    + ["--max-launches", "8", "--junit", "gate.xml", "-o", "kept", "--"] + program)
            #expect(finished.status == 3, "\(finished)")
            #expect(finished.output.hasPrefix("inconclusive: "))
            #expect(finished.output.contains("in four of five trials"))
            #expect(scratch.contents(of: "gate.xml")?.contains("<skipped ") == true)
            let kept = try MeasureReport(
                try Firstlight.run("report", "--format", "json", scratch("kept")).output)
            #expect(kept.comparison?.pairs == 8 && kept.measurement.ending == "complete")
        }

        // MARK: - --explain

        /// The comparison behind the verdict names the planted function, and the temporary
        /// recordings are removed.
        @Test func aRegressionIsExplained() throws {
            let before = try phased(0, 0, 5_000)
            let program = try phased(0, 0, 300_000)
            try FileManager.default.createDirectory(
                atPath: scratch("temporary"), withIntermediateDirectories: false)
            var command = try Firstlight.command(
                ["gate"] + baseline(before) + ["--explain", "--"] + program)
            command.directory = scratch.folder
            command.environment["TMPDIR"] = scratch("temporary")
            let finished = try command.run(limit: 300)
            #expect(finished.status == 1, "\(finished)")
            #expect(finished.error == "")
            #expect(finished.output.hasPrefix("regression: "))
            let explanation = finished.output.components(separatedBy: "\n\nbefore: phased").last
            #expect(explanation?.contains("\nafter: phased ") == true)
            #expect(explanation?.contains(" · launched in ") == true)
            #expect(explanation?.contains("Main: what accounts for +") == true)
            // The source line that computes.
            #expect(explanation?.contains("phased.c:") == true, "\(finished.output)")
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: scratch("temporary")) == [])
        }

        /// A passed gate has nothing to explain.
        @Test func onlyARegressionIsExplained() throws {
            let program = try phased(0, 0, 3_000)
            let words = baseline(program) + ["--max-launches", "7", "--"] + program
            let finished = try gate(["--explain"] + words)
            #expect([0, 3].contains(finished.status), "\(finished)")
            #expect(!finished.output.contains("before: "), "\(finished)")
            for option in [["--format", "json"], ["--quiet"]] {
                let refused = try gate(["--explain"] + option + words)
                #expect(isBroken(refused, 125, "--explain is text"), "\(refused)")
            }
        }

        // MARK: - Stored baselines

        private func measure(_ words: [String], launches: Int = 8) throws {
            let finished = try Firstlight.command(
                ["measure", "--quiet", "-n", "\(launches)", "-o", scratch("base"), "--"] + words
            ).run(limit: 300)
            #expect(finished.status == 0, "\(finished)")
        }

        private func copy(_ name: String) throws -> String {
            let path = scratch(name)
            try? FileManager.default.removeItem(atPath: path)
            try Scratch.copyItem(atPath: try Setup.fixture("phased"), toPath: path)
            return path
        }

        @Test func theStoredProgramTakesTurns() throws {
            let old = try copy("old")
            try measure([old, "0", "0", "2000"])
            let words = [
                "--baseline", scratch("base"), "--format", "json", "--max-launches", "7", "--",
            ]
            let report = try report(try gate(words + (try phased(0, 0, 2_000))))
            #expect(report.basis == "turns" && report.comparison?.pairs == 7)
        }

        @Test func storedFiguresOnlyAdvise() throws {
            let old = try copy("old")
            try measure([old, "0", "0", "2000"])
            let words = ["--baseline", scratch("base"), "--format", "json", "--"]
            // Much slower, but stored figures never give a regression.
            let slow = try gate(words + [old, "0", "0", "100000"])
            #expect([0, 3].contains(slow.status))
            #expect(try report(slow).stored?.reason == "same")
            let other = try gate(words + (try phased(0, 0, 20_000)))
            #expect(try report(other).basis == "turns")
            _ = try copy("old")
            #expect(
                try report(try gate(words + (try phased(0, 0, 20_000)))).stored?.reason == "changed"
            )
            unlink(old)
            let gone = try gate(["--baseline", scratch("base"), "--"] + (try phased(0, 0, 20_000)))
            #expect([0, 3].contains(gone.status))
            #expect(gone.output.contains("this is only advice"))
        }

        @Test func otherConditions() throws {
            try measure(["true"])
            let finished = try gate([
                "--baseline", scratch("base"), "--until", "output", "--", "sh", "-c", "echo x",
            ])
            // /bin/true exists, so it is launched in turn; it never prints anything.
            #expect(finished.status == 125, "\(finished)")
            try measure([try copy("old"), "0", "0", "2000"])
            unlink(scratch("old"))
            let advice = try gate([
                "--baseline", scratch("base"), "--until", "output", "--", "sh", "-c", "echo x",
            ])
            #expect(advice.status == 3)
            #expect(advice.output.contains("the conditions differ"), "\(advice)")
        }

        // MARK: - Ends

        private func isBroken(_ finished: Finished, _ status: Int32, _ words: String...) -> Bool {
            finished.status == status && finished.output == ""
                && words.allSatisfy(finished.error.contains)
        }

        @Test func badInput() throws {
            try scratch.write("words", to: "text", mode: 0o644)
            let cases: [([String], Int32, String)] = [
                (["--baseline", "text", "true"], 125, "neither a measurement nor a program"),
                (["--baseline", "./none", "true"], 127, "./none"),
                (["--baseline", "true", "./none"], 127, "./none"),
                (["--baseline", "true", "/tmp"], 126, "/tmp"),
                (["--baseline", "true | cat", "true"], 125, "--baseline: the |"),
                (["--baseline", "true", "--max-launches", "3", "true"], 125, "from 7 to 10000"),
                (["true"], 125, "--baseline"),
                (["--baseline", "true", "-o", "text", "true"], 125, "text"),
                (["--baseline", "true", "--until", "listen", "true"], 125, "given up"),
                (["--baseline", "true", "--before", "exit 7", "true"], 125, "exit 7"),
            ]
            for (words, status, text) in cases {
                let finished = try gate(words)
                #expect(isBroken(finished, status, text), "\(words): \(finished)")
            }
            let recording = try Firstlight.record(["true"], in: scratch)
            let finished = try gate(["--baseline", recording.path, "true"])
            #expect(isBroken(finished, 125, "is a recording"), "\(finished)")
            #expect(scratch.contents(of: "text") == "words")
        }

        @Test func interrupted() throws {
            try #require(mkfifo(scratch("there"), 0o600) == 0)
            let fourth = "{ echo > there; \(Nap().command); }"
            let script = "echo x >> made; [ $(wc -l < made) != 4 ] || \(fourth)"
            var command = try Firstlight.command([
                "gate", "--baseline", "true", "--junit", "gate.xml", "--", "sh", "-c", script,
            ])
            command.directory = scratch.folder
            let child = try command.start()
            let there = try FileHandle(forReadingFrom: URL(fileURLWithPath: scratch("there")))
            #expect(there.availableData.count == 1)
            kill(child.pid, SIGINT)
            let finished = try child.finish()
            #expect(isBroken(finished, 130, "interrupted: there is no answer"), "\(finished)")
            #expect(scratch.contents(of: "gate.xml")?.contains("<error ") == true)
        }

        // MARK: - JUnit

        @Test(.needs("xmllint")) func junitIsWellFormed() throws {
            let name = scratch("<p>&\"'\u{1B}x")
            try scratch.write("#!/bin/sh\n", to: "<p>&\"'\u{1B}x", mode: 0o755)
            let words = [
                "--baseline", "true", "--junit", scratch("gate.xml"), "--max-launches", "7",
            ]
            let programs = [
                (["--", name], "<"), (["--", name, "&"], "<"),
                (["--until", "listen", "--", name], "<error "), (["--", "./none"], "<error "),
            ]
            for (program, element) in programs {
                _ = try gate(words + program)
                let text = try #require(scratch.contents(of: "gate.xml"))
                #expect(text.contains(element))
                let checked = try Command(["xmllint", "--noout", scratch("gate.xml")]).run()
                #expect(checked.status == 0 && checked.error == "", "\(text)")
            }
        }

        /// If the JUnit file cannot be written, the verdict would be lost.
        @Test func junitThatCannotBeWritten() throws {
            let finished = try gate([
                "--baseline", "true", "--junit", "none/gate.xml", "--max-launches", "7", "true",
            ])
            #expect([125, 3].contains(finished.status))
            #expect(finished.error.contains("none/gate.xml"))
        }
    }
}
