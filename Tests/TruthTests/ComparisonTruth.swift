import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension Measured {
    /// `firstlight compare` of the demonstration and its fixed variant.
    @Suite struct Comparisons {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func record(_ variant: String) throws -> String {
            let path = scratch(variant)
            let command = try Firstlight.recording([try Setup.star(variant)], to: path)
            let finished = try command.run()
            try #require(finished.status == 0, "\(finished)")
            return path
        }

        private struct Times: Decodable {
            var difference: Int64
        }
        private struct Change: Decodable {
            var function: String
            var wallNs: Times
            var blockedNs: Times
        }
        private struct Initializer: Decodable {
            var function: String
            var wallNs: Times
        }
        private struct Phase: Decodable {
            var name: String
            var changes: [Change]
        }
        private struct Report: Decodable {
            var phases: [Phase]
            var initializers: [Initializer]
        }

        /// The comparison shows where each saving came from, and accounts for all of the
        /// difference.
        @Test func theThreeSavings() throws {
            try Truth.of("comparison") { figures in
                let files = [try record("starsearcher"), try record("starsearcher-mended")]
                let text = try Firstlight.command(["compare"] + files + ["--format", "json"]).run()
                let report = try JSONDecoder().decode(Report.self, from: Data(text.output.utf8))
                let changes = report.phases.flatMap { phase in phase.changes.map { (phase, $0) } }
                    .sorted { $0.1.wallNs.difference < $1.1.wallNs.difference }
                let largest = changes.prefix(3).map { phase, change in
                    "\(phase.name): \(change.function)"
                }
                let wanted = [
                    "Static initialisers: global constructors keyed to logger.cpp",
                    "Main: StarCatalogue::loadStars", "Main: FrameBuilder::prewarmDetailViews",
                ]
                for saving in wanted {
                    figures.check(
                        "\(saving) is one of three",
                        isSo: largest.contains { $0.hasPrefix(saving) })
                }
                // The wait is distinguished from work.
                let wait = changes.first { $0.1.function.hasPrefix("StarCatalogue::loadStars") }?.1
                figures.check(
                    "the wait is one",
                    isSo: wait.map { $0.blockedNs.difference < $0.wallNs.difference / 2 } == true)
                // The time of the initialiser agrees.
                let logger = report.initializers.first
                let sampled = changes.first { $0.1.function == logger?.function }?.1
                let timed = logger?.wallNs.difference
                figures.check(
                    "logger", sampled?.wallNs.difference, truth: timed,
                    tolerance: abs(timed ?? 0) / 10)
            }
        }

    }
}
