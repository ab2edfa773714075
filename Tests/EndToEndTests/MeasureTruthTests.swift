import Foundation
import Glibc
import Testing

extension EndToEnd {
    /// `measure` of a program that takes as long as it is told, by the clock.
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

        /// In microseconds, of both arms. Short: who computes for long is likely to lose the core on a
        /// busy machine.
        private static let told = [
            (phase: "Dynamic linking", first: 8_000, second: 14_000),
            (phase: "Static initialisers", first: 4_000, second: 10_000),
            (phase: "Main", first: 14_000, second: 2_000),
        ]

        /// What the program does besides it does in the other arm, too. Both take as long in all: on a
        /// virtual machine, who has waited longer is slower to wake up and see the end.
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

        @Test func phasesTakeWhatTheyAreTold() throws { try checkPhases([]) }

        /// The moment is that of the output, and not of the next look.
        @Test func untilOutput() throws { try checkPhases(["--until", "output:done"]) }

        /// By their own clocks; the parent of the daemon says nothing, and takes next to nothing.
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

        @Test func twoKindsOfLaunches() throws {
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

        /// However short the launches are.
        @Test func aPlantedLoad() throws {
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
