import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension Measured {
    /// `gate`: its verdicts, and how it ends.
    @Suite struct Gating {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func gate(_ words: [String], limit: TimeInterval = 300) throws -> Finished {
            var command = try Firstlight.command(["gate"] + words)
            command.directory = scratch.folder
            return try command.run(limit: limit)
        }

        private struct Report: Decodable { var phase: String? }

        private func report(_ finished: Finished) throws -> Report {
            let report = try JSONDecoder().decode(Report.self, from: Data(finished.output.utf8))
            return report
        }

        /// `phased`, which computes for the given microseconds in each phase.
        private func phased(_ times: Int...) throws -> [String] {
            [try Setup.fixture("phased")] + times.map(String.init)
        }

        private func baseline(_ words: [String]) -> [String] {
            ["--baseline", words.map { "'\($0)'" }.joined(separator: " ")]
        }

        @Test(
            arguments: [
                ("Dynamic linking", [12_000, 4_000, 6_000]),
                ("Static initialisers", [6_000, 10_000, 6_000]),
                ("Main", [6_000, 4_000, 12_000]),
            ]) func aPlantedRegression(phase: String, times: [Int]) throws
        {
            let before = try phased(6_000, 4_000, 6_000)
            let program = [before[0]] + times.map(String.init)
            try Truth.of("gate: \(phase)") { figures in
                let finished = try gate(
                    baseline(before) + ["--format", "json", "--"] + program)
                let report = try report(finished)
                figures.check("a regression", isSo: finished.status == 1)
                figures.check("its phase", isSo: report.phase == phase)
            }
        }

        @Test func aFasterProgram() throws {
            let program = try phased(0, 0, 3_000)
            let before = try phased(0, 0, 20_000)
            try Truth.of("gate: faster") { figures in
                let finished = try gate(baseline(before) + ["--max-launches", "7", "--"] + program)
                figures.check("passed", isSo: finished.status == 0)
            }
        }

        /// Two kinds of launches, far apart: there can be no verdict.
        @Test func inconclusive() throws {
            let program = try phased(0, 0, 3_000, 30_000) + [scratch("count")]
            try Truth.of("gate: two kinds") { figures in
                let finished = try gate(
                    baseline(try phased(0, 0, 12_000)) + ["--max-launches", "8", "--"] + program)
                figures.check("inconclusive", isSo: finished.status == 3)
            }
        }
    }
}
