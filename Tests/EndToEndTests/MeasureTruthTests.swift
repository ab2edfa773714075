import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// `measure` of programs whose work is known.
    @Suite struct MeasuredWork {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func measure(_ words: [String]) throws -> MeasureReport {
            let finished = try Firstlight.command(
                ["measure", "-o", scratch("launches"), "--format", "json"] + words
            ).run(limit: 300)
            #expect(finished.status == 0, "\(finished)")
            return try MeasureReport(finished.output)
        }

        /// Both arms have the phases that the program computes in, whenever its launch is over.
        @Test(arguments: [[], ["--until", "output:done"]])
        func bothProgramsHaveTheirPhases(options: [String]) throws {
            let program = try Setup.fixture("phased")
            let against = ["-n", "3", "--against", "'\(program)' 2000 2000 2000"]
            let report = try measure(against + options + ["--", program, "1000", "1000", "1000"])
            let summary = try #require(report.summaryAgainst)
            for phase in ["Dynamic linking", "Static initialisers", "Main"] {
                #expect(report.summary.median(of: phase) ?? 0 >= 1_000_000, "\(phase)")
                #expect(summary.median(of: phase) ?? 0 >= 2_000_000, "\(phase)")
            }
        }

        /// All that the program starts, also a daemon.
        @Test func startedProcesses() throws {
            let finished = try Firstlight.command(
                [
                    "measure", "-o", scratch("launches"), "--format", "json", "-n", "1", "--",
                    try Setup.fixture("family"),
                ], adding: ["FIRSTLIGHT_TRUTH": scratch("truth")]
            ).run(limit: 300)
            #expect(finished.status == 0, "\(finished)")
            let processes = try MeasureReport(finished.output).summary.processes
            #expect(processes.map(\.name) == ["family"])
            let family = try #require(processes.first)
            #expect(family.count.median == 7)
        }

        /// A load is noticed, however short the launches are.
        @Test func aPlantedLoad() throws {
            try #require(mkfifo(scratch("there"), 0o600) == 0)
            let script = "echo there > '\(scratch("there"))'; while :; do :; done"
            let load = try (0..<ProcessInfo.processInfo.activeProcessorCount).map { _ in
                let child = try Command(["sh", "-c", script]).start()
                let there = try FileHandle(forReadingFrom: URL(fileURLWithPath: scratch("there")))
                // To its end: a shell that still held the pipe would be taken for the next one.
                #expect(try there.readToEnd()?.count == 6)
                return child
            }
            defer { for child in load { kill(child.pid, SIGKILL) } }
            let report = try measure(["-n", "100", "true"])
            #expect(report.says("other_work"))
            let known = report.launches.compactMap(\.otherWorkNs)
            #expect(known.contains { $0 > 0 })
        }
    }
}
