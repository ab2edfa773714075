import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension Measured {
    /// Attaching to a running process, and detaching from it.
    @Suite struct Attaching {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// Runs `attach` for a sleeper, to its end.
        private func attach(_ pid: pid_t, _ options: String...) throws -> Finished {
            let words = ["attach", "-o", scratch("recording")] + options + [String(pid)]
            return try Firstlight.command(words).run()
        }

        private func report() throws -> LaunchReport {
            let finished = Finished(end: .exited(0), output: "", error: "")
            return try Recorded(path: scratch("recording"), finished: finished).json()
        }

        @Test func theSummaryShowsWhatTheThreadsDo() throws {
            try Truth.of("attach") { figures in
                let sleeper = try Sleeper()
                let result = try attach(sleeper.pid, "--duration", "200ms")
                try #require(result.status == 0, "\(result)")
                let report = try self.report()
                _ = try sleeper.end()
                figures.check(
                    "duration", report.launch.wallNs, truth: 200_000_000, tolerance: 50_000_000)
                figures.check(
                    "a thread's work is seen", isSo: report.totalCPU(of: "pass_token") > 0)
                figures.check("stacks are whole", isSo: report.launch.stacksAreWhole)
            }
        }

        /// After a hundred recordings the threads still pass their token, as fast as if nothing had
        /// attached (each in turn, of three tries).
        @Test func aHundredTimesInARow() throws {
            try Truth.of("attached a hundred times") { figures in
                let sleeper = try Sleeper()
                for _ in 1...100 {
                    let result = try attach(sleeper.pid, "--duration", "30ms", "--quiet")
                    try #require(result.status == 0, "\(result)")
                }
                let untouched = try Sleeper()
                let tries = try (1...3).map { _ in
                    try (untouched.millisecondsOfPassing(), sleeper.millisecondsOfPassing())
                }
                let without = try #require(tries.map(\.0).min())
                let after = try #require(tries.map(\.1).min())
                figures.check(
                    "200 rounds", Double(after), unit: "ms", truth: Double(without),
                    most: Double(without * 2 + 10))
                _ = try (sleeper.end(), untouched.end())
            }
        }
    }
}
