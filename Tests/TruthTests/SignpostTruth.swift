import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension Measured {
    /// A program's own signposts, from its calls to the report.
    @Suite struct ProgramSignposts {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private struct Report: Decodable {
            struct Interval: Decodable {
                var name: String
                var wallNs: Int64
            }

            var intervals: [Interval]
        }

        @Test(arguments: ["signposts", "signposts-static", "signposts-static-pie"])
        func intervalsAreAsLongAsTheProgramSays(fixture: String) throws {
            try intervals(of: fixture)
        }

        @Test(.needs("musl-gcc"), arguments: ["musl/signposts", "musl/signposts-static"])
        func muslsIntervalsAreAsLongAsTheProgramSays(fixture: String) throws {
            try intervals(of: fixture)
        }

        private func intervals(of fixture: String) throws {
            try Truth.of("signposts: \(fixture)") { figures in
                let recorded = try Firstlight.record(
                    [try Setup.fixture(fixture), "nested"], in: scratch,
                    adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
                let text = try recorded.text("report", ["--format", "json"])
                let report = try JSONDecoder().decode(Report.self, from: Data(text.utf8))
                let truth = try scratch.truth()
                // The fixture's truth has only names of one word.
                for interval in report.intervals where interval.name != "Hand over" {
                    figures.check(
                        interval.name, interval.wallNs, truth: truth[interval.name],
                        floor: 300_000)
                }
            }
        }
    }
}
