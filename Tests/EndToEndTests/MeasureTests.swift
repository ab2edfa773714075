import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// `measure`: the launches that it makes, its report about them, and how it ends.
    @Suite struct Measuring {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private var file: String { scratch("launches") }

        private func command(_ words: [String]) throws -> Command {
            var command = try Firstlight.command(["measure", "-o", file] + words)
            command.directory = scratch.folder
            return command
        }

        private func measure(_ words: [String]) throws -> Finished { try command(words).run() }

        /// `sh -c SCRIPT`, in the scratch folder.
        private func script(_ text: String) -> [String] { ["--", "sh", "-c", text] }

        private func lines(_ name: String = "made") -> [String] {
            (scratch.contents(of: name) ?? "").split(separator: "\n").map(String.init)
        }

        @Test func figures() throws {
            let finished = try measure(["-n", "5", "--format", "json", "true"])
            #expect(finished.status == 0 && finished.error == "", "\(finished)")
            let report = try MeasureReport(finished.output)
            #expect(report.schema == 1 && report.kind == "measurement")
            #expect(report.fates == ["first", "-", "-", "-", "-", "-"])
            #expect(report.launches.allSatisfy { $0.status == 0 && $0.wallNs > 0 })
            #expect(report.summary.wall?.n == 5)
            #expect(report.summary.phases.contains { $0.name == "Dynamic linking" })
            #expect(report.measurement.ending == "complete")
            #expect(report.conditions.cache == "warm")
            #expect(report.comparison == nil)
            // The file has the same figures.
            let stored = try Firstlight.run("report", "--format", "json", file)
            #expect(stored.output == finished.output)
        }

        @Test func text() throws {
            let finished = try measure(["-n", "3", "true"])
            #expect(finished.status == 0 && finished.error == "")
            #expect(finished.output.hasPrefix("true"))
            let quiet = try measure(["-n", "3", "--quiet", "true"])
            #expect(quiet == Finished(end: .exited(0), output: "", error: ""))
            // The previous file is kept.
            #expect(scratch.has("launches.old"))
        }

        @Test func everyLaunchIsMade() throws {
            let words = "echo ${#FIRSTLIGHT_LAYOUT} >> made; echo spoken; echo err >&2"
            let finished = try measure(["-n", "4"] + script(words))
            #expect(finished.status == 0)
            // The program's output is not shown.
            #expect(!finished.output.contains("\nspoken") && finished.error == "")
            #expect(lines().count == 5)
            let sizes = lines().dropFirst().compactMap { Int($0) }
            #expect(sizes.count == 4 && Set(sizes).count > 1)
            #expect(sizes.allSatisfy { 0..<4096 ~= $0 })
        }

        @Test func twoProgramsTakeTurns() throws {
            let words = [
                "-n", "6", "--format", "json", "--against", "sh -c 'echo B >> made'",
            ]
            let finished = try measure(words + script("echo A >> made"))
            #expect(finished.status == 0, "\(finished)")
            #expect(lines().prefix(2) == ["A", "B"])
            let rest = lines().dropFirst(2).joined()
            #expect(rest.count == 12)
            for start in stride(from: 0, to: 12, by: 4) {
                let block = String(rest.dropFirst(start).prefix(4))
                #expect(["ABBA", "BAAB"].contains(block))
            }
            let report = try MeasureReport(finished.output)
            #expect(report.summary.wall?.n == 6 && report.summaryAgainst?.wall?.n == 6)
            #expect(report.comparison?.pairs == 6)
        }

        // MARK: - Launches that do not count

        @Test func anotherStatus() throws {
            let finished = try measure(
                ["-n", "4", "--format", "json"]
                    + script("echo x >> made; [ $(wc -l < made) != 3 ] || { echo why; exit 3; }"))
            #expect(finished.status == 0)
            let report = try MeasureReport(finished.output)
            #expect(report.fates == ["first", "-", "other_status", "-", "-", "-"])
            #expect(report.launches[2].status == 3)
            #expect(report.launches[2].output == "why\n")
            #expect(finished.complaints.count == 2)
            #expect(finished.error.contains("it ended with status 3, but most did not\n  | why\n"))
            let stored = try MeasureReport(
                try Firstlight.run("report", "--format", "json", file).output)
            #expect(stored.fates == report.fates)
        }

        @Test func failures() throws {
            let finished = try measure(
                ["-n", "5", "--format", "json"] + script("echo words; kill -SEGV $$"))
            #expect(finished.status == 1)
            #expect(finished.error.contains("launch 1 of sh -c"))
            #expect(finished.error.contains("signal 11 ended it"))
            // Only once, although there are five.
            #expect(finished.error.components(separatedBy: "  | words").count == 2)
            #expect(finished.error.contains("given up: no launch of"))
            let report = try MeasureReport(finished.output)
            #expect(report.fates == Array(repeating: "failed", count: 5))
            #expect(report.measurement.ending == "gave_up")
        }

        @Test func hanging() throws {
            let nap = Nap()
            let finished = try measure(["--watchdog", "50ms", "--format", "json"] + nap.words)
            #expect(finished.status == 1)
            #expect(finished.error.contains("it hung"))
            #expect(try MeasureReport(finished.output).fates == ["hung", "hung"])
            #expect(try !nap.isRunning)
        }

        @Test func neverReady() throws {
            let finished = try measure(["--until", "listen", "--format", "json", "true"])
            #expect(finished.status == 1)
            #expect(finished.error.contains("ended before it was ready (listen)"))
            // Three of the five launches are reported, and the end.
            #expect(finished.complaints.count == 4, "\(finished.error)")
            #expect(try MeasureReport(finished.output).fates.allSatisfy { $0 == "not_ready" })
        }

        // MARK: - Ends

        @Test func programsThatAreNone() throws {
            let missing = try measure(["./none"])
            #expect(missing.isRefusal(127, mentioning: "./none"), "\(missing)")
            let folder = try measure(["/tmp"])
            #expect(folder.isRefusal(126, mentioning: "/tmp"), "\(folder)")
            let other = try measure(["--against", "./none", "true"])
            #expect(other.isRefusal(127, mentioning: "./none"), "\(other)")
            #expect(!scratch.has("launches"))
        }

        @Test func otherFilesAreNotReplaced() throws {
            try scratch.write("precious", to: "launches")
            let finished = try measure(script("echo x >> made"))
            #expect(finished.isRefusal(125, mentioning: file, "-o"), "\(finished)")
            #expect(scratch.contents(of: "launches") == "precious")
            #expect(lines().isEmpty)
            let recording = try Firstlight.record(["true"], in: scratch)
            var command = try Firstlight.command(["measure", "-o", recording.path, "true"])
            command.directory = scratch.folder
            #expect(try command.run().status == 125)
        }

        @Test func interrupted() throws {
            try #require(mkfifo(scratch("there"), 0o600) == 0)
            let nap = Nap()
            let fourth = "{ echo $$ > there; \(nap.command); }"
            let child = try command(
                ["-n", "50", "--format", "json"]
                    + script("echo x >> made; [ $(wc -l < made) != 4 ] || \(fourth)")
            ).start()
            let there = try FileHandle(forReadingFrom: URL(fileURLWithPath: scratch("there")))
            let pid = String(decoding: there.availableData, as: UTF8.self)
            #expect(Int32(pid.dropLast()) != nil)
            kill(child.pid, SIGINT)
            let finished = try child.finish()
            #expect(finished.status == 130)
            let report = try MeasureReport(finished.output)
            #expect(report.fates == ["first", "-", "-", "interrupted"])
            #expect(report.measurement.ending == "interrupted")
            #expect(report.summary.wall?.n == 2)
            #expect(try !nap.isRunning)
            let stored = try MeasureReport(
                try Firstlight.run("report", "--format", "json", file).output)
            #expect(stored.fates == report.fates)
        }

        /// The launches so far are stored, and shown.
        @Test func aFullDisk() throws {
            let words = ["measure", "-o", file, "-n", "3000", "true"]
            let tool = try Setup.path(.firstlight)
            // In units of 512 bytes: enough for an empty measurement, and some launches.
            let finished = try Command(
                ["sh", "-c", "ulimit -f 320; exec \"$0\" \"$@\"", tool] + words
            ).run()
            #expect(finished.status == 125, "\(finished.error)")
            #expect(finished.complaints.count == 1 && finished.output.hasPrefix("true"))
            let stored = try MeasureReport(
                try Firstlight.run("report", "--format", "json", file).output)
            #expect(stored.launches.count > 1)
            #expect(stored.measurement.ending == "unknown")
        }

        /// The program's action for the limit's signal is unchanged.
        @Test func theProgramsOwnLimits() throws {
            let script = "grep -E '^Sig(Ign|Cgt|Blk)' /proc/self/status >> made"
            let alone = try Command(["sh", "-c", "cd '\(scratch.folder)'; " + script]).run()
            #expect(alone.status == 0)
            let finished = try measure(["-n", "1"] + self.script(script))
            #expect(finished.status == 0)
            let found = lines()
            #expect(found == Array(repeating: found.prefix(3), count: 3).flatMap { $0 })
        }

        // MARK: - Around launches

        @Test func commands() throws {
            let finished = try measure(
                ["-n", "2", "--before", "echo before >> made", "--between", "echo between >> made"]
                    + script("echo x >> made"))
            #expect(finished.status == 0)
            #expect(
                lines() == [
                    "before", "x", "between", "before", "x", "between", "before", "x",
                ])
            let failing = try measure(["--before", "echo no >&2; exit 7", "true"])
            #expect(failing.isRefusal(1, mentioning: "exit 7"), "\(failing)")
        }

        @Test func variables() throws {
            try scratch.write("# two\nA=1\nB='two words'\n", to: "vars")
            let finished = try measure(
                ["-n", "1", "--env-file", "vars", "--fresh-home"]
                    + script("echo $A $B >> made; ls -A \"$HOME\" >> made; touch \"$HOME/x\""))
            #expect(finished.status == 0, "\(finished)")
            #expect(lines() == ["1 two words", "1 two words"])
        }

        @Test(.needs("setsid")) func daemons() throws {
            let nap = Nap()
            let program = script("setsid -f \(nap.command)")
            let named = try measure(["-n", "2"] + program)
            #expect(named.status == 0)
            #expect(named.complaints.count { $0.contains("sleep") && $0.contains("--clean") } == 1)
            #expect(try nap.isRunning)
            try nap.end()
            let ended = try measure(["-n", "2", "--clean"] + program)
            #expect(ended.status == 0)
            #expect(try !nap.isRunning)
        }

        @Test func aLaunchWithStacks() throws {
            let finished = try measure(
                ["-n", "3", "--then-record", "--format", "json"] + script("echo"))
            #expect(finished.status == 0)
            #expect(try MeasureReport(finished.output).launches.count == 4)
            #expect(finished.complaints.count == 1 && finished.error.contains("the median of"))
            let report = try Firstlight.run("report", scratch("launches.launch.firstlight"))
            #expect(report.status == 0)
        }
    }
}
