import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// `measure` of a program whose length, by the clock, is given.
    @Suite struct MeasureTruth {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func measure(_ words: [String]) throws -> MeasureReport {
            let finished = try Firstlight.command(
                ["measure", "-o", scratch("launches"), "--format", "json"] + words
            ).run(limit: 300)
            #expect(finished.status == 0, "\(finished)")
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
            try Misses.afterAttempts {
                let against = ["-n", "20", "--against", "'\(program)' \(other)"]
                let report = try measure(
                    against + options + ["--", program] + Self.told.map { String($0.first) })
                let summary = try #require(report.summaryAgainst)
                var misses = Misses()
                for (phase, first, second) in Self.told {
                    let one = try #require(report.summary.median(of: phase))
                    let another = try #require(summary.median(of: phase))
                    let truth = Int64(first - second) * 1000
                    misses.check(
                        phase, Int64(one - another), truth: truth,
                        tolerance: max(abs(truth) / 100, 100_000))
                }
                return misses
            }
        }

        @Test(.alone) func phasesTakeWhatTheyAreTold() throws { try checkPhases([]) }

        /// The moment is that of the output, not of the next check.
        @Test func untilOutput() throws { try checkPhases(["--until", "output:done"]) }

        /// By the processes' own clocks. The daemon's parent reports nothing, and takes hardly any
        /// time.
        @Test func startedProcesses() throws {
            try Misses.afterAttempts {
                try? FileManager.default.removeItem(atPath: scratch("truth"))
                let finished = try Firstlight.command(
                    [
                        "measure", "-o", scratch("launches"), "--format", "json", "-n", "1", "--",
                        try Setup.fixture("family"),
                    ], adding: ["FIRSTLIGHT_TRUTH": scratch("truth")]
                ).run(limit: 60)
                #expect(finished.status == 0, "\(finished)")
                let processes = try MeasureReport(finished.output).summary.processes
                #expect(processes.map(\.name) == ["family"])
                let family = try #require(processes.first)
                #expect(family.count.median == 7)
                let truth = try scratch.truth()
                func sum(_ figure: String) -> Int64 {
                    truth.filter { $0.key.hasSuffix(figure) }.values.reduce(0, +)
                }
                var misses = Misses()
                for (name, found) in [("_cpu", family.cpu), ("_wall", family.wall)] {
                    misses.check(
                        name, found.map { Int64($0.medianNs) }, truth: sum(name),
                        tolerance: 12_000_000)
                }
                return misses
            }
        }

        @Test(.alone) func twoKindsOfLaunches() throws {
            let program = try Setup.fixture("phased")
            try Misses.afterAttempts {
                var misses = Misses()
                let both = try measure(
                    ["-n", "40", program, "0", "0", "5000", "20000", scratch("count")])
                if !both.says("bimodal") { misses.add("two kinds of launches are not noted") }
                let one = try measure(["-n", "40", program, "0", "0", "20000"])
                if one.says("bimodal") { misses.add("one kind of launches is said to be two") }
                return misses
            }
        }

        /// A load is noticed, however short the launches are.
        @Test(.alone) func aPlantedLoad() throws {
            try #require(mkfifo(scratch("there"), 0o600) == 0)
            let script = "echo there > '\(scratch("there"))'; while :; do :; done"
            let load = try (0..<ProcessInfo.processInfo.activeProcessorCount).map { _ in
                let child = try Command(["sh", "-c", script]).start()
                let there = try FileHandle(forReadingFrom: URL(fileURLWithPath: scratch("there")))
                #expect(there.availableData.count == 6)
                return child
            }
            defer { for child in load { kill(child.pid, SIGKILL) } }
            let report = try measure(["-n", "400", "true"])
            #expect(report.says("other_work"))
            let known = report.launches.compactMap(\.otherWorkNs)
            #expect(known.contains { $0 > 0 })
        }
    }
}
