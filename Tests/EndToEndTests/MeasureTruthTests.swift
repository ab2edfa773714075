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

        /// Short: who computes for long is likely to lose the core on a busy machine.
        private static let told: [(phase: String, nanoseconds: Int64)] = [
            ("Dynamic linking", 6_000_000), ("Static initialisers", 4_000_000),
            ("Main", 10_000_000),
        ]

        /// What the program does besides it does in the other arm, too, and who waits for its end
        /// sleeps as deep.
        private func checkPhases(_ options: [String]) throws {
            let program = try Setup.fixture("phased")
            let told = Self.told.map { String($0.nanoseconds / 1000 + 2000) }
            try Misses.afterAttempts {
                let against = ["-n", "20", "--against", "'\(program)' 2000 2000 2000"]
                let report = try measure(against + options + ["--", program] + told)
                let other = try #require(report.summaryAgainst)
                var misses = Misses()
                for (phase, nanoseconds) in Self.told {
                    let with = try #require(report.summary.median(of: phase))
                    let without = try #require(other.median(of: phase))
                    misses.check(
                        phase, Int64(with - without), truth: nanoseconds,
                        tolerance: max(nanoseconds / 100, 100_000))
                }
                return misses
            }
        }

        @Test func phasesTakeWhatTheyAreTold() throws { try checkPhases([]) }

        /// The moment is that of the output, and not of the next look.
        @Test func untilOutput() throws { try checkPhases(["--until", "output:done"]) }

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
