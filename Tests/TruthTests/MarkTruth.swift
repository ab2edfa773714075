import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension Measured {
    /// Marks, from the command line to the report, compared with what the program itself knows.
    @Suite struct Marks {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private struct Report: Decodable {
            struct Interval: Decodable {
                var name: String
                var wallNs: Int64
            }

            var intervals: [Interval]
        }

        @Test func spansAreAsLongAsTheProgramSays() throws {
            let names = ["longer", "shorter", "climb", "hand_over"]
            try Truth.of("marked spans") { figures in
                let recorded = try Firstlight.record(
                    [try Setup.fixture("marked"), "spans"], in: scratch,
                    options: ["--quiet"] + names.flatMap { ["--mark", "\($0)=\($0).."] },
                    adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
                let text = try recorded.text("report", ["--format", "json"])
                let report = try JSONDecoder().decode(Report.self, from: Data(text.utf8))
                let truth = try scratch.truth()
                for name in names {
                    let longest = report.intervals.filter { $0.name == name }.map(\.wallNs).max()
                    figures.check(name, longest, truth: truth[name], floor: 1_000_000)
                }
            }
        }
    }
}
