import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension Measured {
    /// `history` of measurements made by `measure`.
    @Suite struct HistoryOfLaunches {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private struct Report: Decodable {
            struct Change: Decodable {
                var from: String
                var to: String
                var change: Double
            }

            struct Point: Decodable { var meetsGoal: Bool }

            struct Series: Decodable {
                var changes: [Change]
                var points: [Point]
            }

            var series: [Series]
        }

        private func firstlight(_ words: String...) throws -> String {
            var command = try Firstlight.command(words)
            command.directory = scratch.folder
            let finished = try command.run(limit: 120)
            try #require(finished.status == 0, "\(finished)")
            return finished.output
        }

        /// The program sleeps. Other arguments would make another series, so it reads a file.
        private func keep(_ version: String, milliseconds: Int) throws {
            try scratch.write("#!/bin/sh\nsleep 0.\(milliseconds)\n", to: "app", mode: 0o755)
            let file = "\(version).firstlight"
            _ = try firstlight("measure", "-n", "3", "--version-name", version, "-o", file, "./app")
            _ = try firstlight("history", "--add", file, "--to", "kept")
        }

        @Test func aStepIsFoundWhereItIs() throws {
            try Truth.of("history: a step") { figures in
                for number in 1...4 { try keep("1.\(number)", milliseconds: 100) }
                for number in 5...8 { try keep("1.\(number)", milliseconds: 300) }
                let text = try firstlight(
                    "history", "--format", "json", "--goal", "200ms", "kept")
                let report = try JSONDecoder().decode(Report.self, from: Data(text.utf8))
                let series = try #require(report.series.first)
                figures.check(
                    "the goal is met before",
                    isSo: series.points.map(\.meetsGoal)
                        == (1...8).map { $0 < 5 })
                figures.check(
                    "one change",
                    isSo: series.changes.map { [$0.from, $0.to] } == [["1.4", "1.5"]])
                figures.check(
                    "change", series.changes.first.map { $0.change * 100 }, unit: "%", truth: 200,
                    least: 150, most: 210)
            }
        }
    }
}
