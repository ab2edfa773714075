import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension Measured {
    /// `measure` of a program whose length, by the clock, is given.
    @Suite struct MeasureTruth {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func measure(_ words: [String]) throws -> MeasureReport {
            let finished = try Firstlight.command(
                ["measure", "-o", scratch("launches"), "--format", "json"] + words
            ).run(limit: 300)
            try #require(finished.status == 0, "\(finished)")
            return try MeasureReport(finished.output)
        }

        /// In microseconds, for both arms. Short, because on a busy machine a program that computes
        /// for long is likely to lose the core.
        private static let told = [
            (phase: "Dynamic linking", first: 8_000, second: 14_000),
            (phase: "Static initialisers", first: 4_000, second: 10_000),
            (phase: "Main", first: 14_000, second: 2_000),
        ]

        /// Other work of the program is the same in both arms. Both also take the same time in all:
        /// on a virtual machine, a process that has waited longer wakes up later and sees the end
        /// later.
        private func checkPhases(_ options: [String]) throws {
            let program = try Setup.fixture("phased")
            let other = Self.told.map { String($0.second) }.joined(separator: " ")
            try Truth.of((["measure"] + options).joined(separator: " ")) { figures in
                let against = ["-n", "20", "--against", "'\(program)' \(other)"]
                let report = try measure(
                    against + options + ["--", program] + Self.told.map { String($0.first) })
                let summary = try #require(report.summaryAgainst)
                for (phase, first, second) in Self.told {
                    let one = try #require(report.summary.median(of: phase))
                    let another = try #require(summary.median(of: phase))
                    let truth = Int64(first - second) * 1000
                    figures.check(
                        phase, Int64(one - another), truth: truth,
                        tolerance: max(abs(truth) / 100, 100_000))
                }
            }
        }

        @Test func phasesTakeWhatTheyAreTold() throws { try checkPhases([]) }

        /// The moment is that of the output, not of the next check.
        @Test func untilOutput() throws { try checkPhases(["--until", "output:done"]) }

        /// By the processes' own clocks. The daemon's parent reports nothing, and takes hardly any
        /// time.
        @Test func startedProcesses() throws {
            try Truth.of("measure: processes") { figures in
                try? FileManager.default.removeItem(atPath: scratch("truth"))
                let finished = try Firstlight.command(
                    [
                        "measure", "-o", scratch("launches"), "--format", "json", "-n", "1", "--",
                        try Setup.fixture("family"),
                    ], adding: ["FIRSTLIGHT_TRUTH": scratch("truth")]
                ).run(limit: 60)
                let processes = try MeasureReport(finished.output).summary.processes
                let family = try #require(processes.first)
                let truth = try scratch.truth()
                func sum(_ figure: String) -> Int64 {
                    truth.filter { $0.key.hasSuffix(figure) }.values.reduce(0, +)
                }
                for (name, found) in [("_cpu", family.cpu), ("_wall", family.wall)] {
                    figures.check(
                        name, found.map { Int64($0.medianNs) }, truth: sum(name),
                        tolerance: 12_000_000)
                }
            }
        }

        @Test func twoKindsOfLaunches() throws {
            let program = try Setup.fixture("phased")
            try Truth.of("measure: kinds of launches") { figures in
                let both = try measure(
                    ["-n", "40", program, "0", "0", "5000", "20000", scratch("count")])
                figures.check("two kinds are noted", isSo: both.says("bimodal"))
                let one = try measure(["-n", "40", program, "0", "0", "20000"])
                figures.check("one kind is not two", isSo: !one.says("bimodal"))
            }
        }
    }
}
