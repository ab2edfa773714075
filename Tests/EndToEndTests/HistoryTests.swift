import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// `history` of measurements made by `measure`.
    @Suite struct HistoryOfLaunches {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private struct Report: Decodable {
            struct Change: Decodable {
                var from: String
                var to: String
                var change: Double
                var phase: String?
            }

            struct Point: Decodable {
                var version: String?
                var launches: Int
                var medianNs: Int64
                var meetsGoal: Bool
            }

            struct Series: Decodable {
                var changes: [Change]
                var points: [Point]
            }

            var kind: String
            var series: [Series]
        }

        private func firstlight(_ words: [String]) throws -> Finished {
            var command = try Firstlight.command(words)
            command.directory = scratch.folder
            return try command.run(limit: 120)
        }

        private func show(_ words: [String]) throws -> Report {
            let finished = try firstlight(["history", "--format", "json"] + words)
            #expect(finished.status == 0, "\(finished)")
            return try JSONDecoder().decode(Report.self, from: Data(finished.output.utf8))
        }

        /// Makes a measurement. The program sleeps, so its length hardly depends on what else the
        /// machine does. Other arguments would make another series, so it reads a file.
        private func keep(_ version: String, seconds: String) throws {
            try scratch.write("#!/bin/sh\nsleep \(seconds)\n", to: "app", mode: 0o755)
            let measured = try firstlight([
                "measure", "-n", "3", "--version-name", version, "-o", "\(version).firstlight",
                "./app",
            ])
            #expect(measured.status == 0, "\(measured)")
            let added = try firstlight([
                "history", "--add", "\(version).firstlight", "--to", "kept",
            ])
            #expect(added.status == 0 && added.output.hasPrefix("added "), "\(added)")
        }

        /// Some twenty times as long: no other work on the machine makes up for that.
        @Test func aStepIsFoundWhereItIs() throws {
            for number in 1...4 { try keep("1.\(number)", seconds: "0.05") }
            for number in 5...8 { try keep("1.\(number)", seconds: "1.2") }
            let report = try show(["--goal", "1s", "kept"])
            #expect(report.kind == "history")
            let series = try #require(report.series.first)
            #expect(report.series.count == 1)
            #expect(series.points.map(\.version) == (1...8).map { "1.\($0)" })
            #expect(series.points.allSatisfy { $0.launches == 3 })
            #expect(series.points.suffix(4).allSatisfy { !$0.meetsGoal })
            let change = try #require(series.changes.first)
            #expect(series.changes.count == 1)
            #expect(change.from == "1.4" && change.to == "1.5")
            #expect(change.change > 0 && change.phase == "Main")

            let text = try firstlight(["history", "kept"])
            #expect(text.output.contains("between 1.4 and 1.5"))
            let page = try firstlight(["history", "--format", "html", "-o", "page.html", "kept"])
            #expect(page.status == 0 && page.output == "" && page.error == "")
            #expect(scratch.contents(of: "page.html")?.hasPrefix("<!DOCTYPE html>") == true)
        }

        /// A measurement of two programs counts for the first one.
        @Test func twoProgramsAreOne() throws {
            let measured = try firstlight([
                "measure", "-n", "2", "--against", "sleep 0", "-o", "a.firstlight", "true",
            ])
            #expect(measured.status == 0, "\(measured)")
            let report = try show(["--goal", "1m", "a.firstlight"])
            #expect(report.series.map(\.points.count) == [1])
            #expect(report.series.first?.points.first?.launches == 2)
        }
    }
}
