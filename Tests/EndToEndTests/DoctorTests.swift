import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// The output of `doctor` where the right answer is known.
    @Suite struct Doctor {
        private static let subjects = [
            "machine", "tracing", "memory", "/proc", "capture", "timer", "attaching",
            "confinement", "shared memory", "scheduling", "open files", "cores", "symbols",
        ]

        /// The lines of checks: level and subject.
        private func levels(_ output: String) -> [String: String] {
            var levels: [String: String] = [:]
            for line in output.split(separator: "\n") where !line.hasPrefix(" ") {
                guard
                    let level = ["ok", "limited", "no"].first(where: { line.hasPrefix($0 + " ") })
                else { continue }
                let rest = line.dropFirst(level.count).drop { $0 == " " }
                if let subject = Self.subjects.first(where: { rest.hasPrefix($0 + " ") }) {
                    levels[subject] = level
                }
            }
            return levels
        }

        @Test func waysThatWorkAreNamed() throws {
            let result = try Firstlight.run("doctor")
            #expect(result.status == 0, "\(result)")
            #expect(result.error == "")
            let levels = levels(result.output)
            #expect(Set(levels.keys) == Set(Self.subjects), "\(result.output)")
            // All other tests need these.
            for subject in ["machine", "tracing", "memory", "/proc", "capture"] {
                #expect(levels[subject] == "ok", "\(result.output)")
            }
            #expect(result.output.contains("works here") || result.output.contains("work here"))
            // Below everything that is not ok, it says how to fix it.
            let lines = result.output.split(separator: "\n")
            for (line, next) in zip(lines, lines.dropFirst())
            where line.hasPrefix("no ") || line.hasPrefix("limited ") {
                #expect(next.hasPrefix("   "), "\(line)")
            }
        }

        @Test func forPrograms() throws {
            struct Report: Decodable {
                struct Check: Decodable {
                    var subject: String
                    var level: String
                    var finding: String
                    var remedy: String?
                }

                var schema: Int
                var canRecord: Bool
                var canAttach: Bool
                var checks: [Check]
            }
            let result = try Firstlight.run("doctor", "--format", "json")
            #expect(result.status == 0)
            let report = try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
            #expect(report.schema == 1 && report.canRecord)
            #expect(report.checks.map(\.subject) == Self.subjects)
            #expect(report.checks.allSatisfy { ($0.remedy == nil) == ($0.level == "ok") })
        }

        /// strace -f traces the child that doctor would like to trace.
        @Test(.needs("strace")) func anotherTracerIsNamed() throws {
            let firstlight = try Setup.path(.firstlight)
            let result = try Command(["strace", "-f", "-o", "/dev/null", firstlight, "doctor"])
                .run()
            #expect(result.status == 125, "\(result)")
            let levels = levels(result.output)
            #expect(levels["tracing"] == "no")
            #expect(levels["memory"] == "ok" && levels["/proc"] == "ok")
            #expect(result.output.contains("strace -f"))
            #expect(result.output.contains("neither record nor attach works here; see tracing"))
        }

        /// `/proc` shows the ids of another namespace.
        @Test(.needsRoot, .needs("unshare")) func aProcOfOthers() throws {
            let words = ["unshare", "--pid", "--fork", try Setup.path(.firstlight), "doctor"]
            let result = try Command(words).run()
            #expect(result.status == 125, "\(result)")
            let levels = levels(result.output)
            #expect(levels["/proc"] == "no" && levels["tracing"] == "ok", "\(result.output)")
            #expect(result.output.contains("--mount-proc"))
            // This is true: such a recording knows nothing about the program.
            let scratch = try Scratch()
            let spin = [try Setup.fixture("spin"), "20000000"]
            let record = ["record", "--quiet", "-o", scratch("recording")] + spin
            let recorded = Recorded(
                path: scratch("recording"), finished: try Command(words.dropLast() + record).run())
            #expect(try recorded.json().functions.allSatisfy { $0.function != "spin" })
        }

        /// As a user without privileges, on one core, with few descriptors.
        @Test(.needsRoot, .needs("setpriv"), .needs("prlimit"), .needs("taskset"))
        func limits() throws {
            let scratch = try Scratch()
            chmod(scratch.folder, 0o755)
            try Scratch.copyItem(
                atPath: try Setup.path(.firstlight), toPath: scratch("firstlight"))
            let result = try Command([
                "taskset", "-c", try Cores.first(), "prlimit", "--nofile=256:256", "setpriv",
                "--reuid=65534", "--regid=65534", "--clear-groups", scratch("firstlight"), "doctor",
            ]).run()
            #expect(result.status == 0, "\(result)")
            let levels = levels(result.output)
            #expect(levels["cores"] == "limited" && levels["open files"] == "limited")
            #expect(levels["tracing"] == "ok")
            #expect(result.output.contains("hard limit 256"))
        }
    }
}
