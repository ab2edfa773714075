import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// A program's own signposts, from its calls to the report.
    @Suite struct ProgramSignposts {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// The parts of the JSON report for these tests.
        private struct Report: Decodable {
            struct Ready: Decodable {
                var atNs: Int64
                var by: String
            }

            struct Interval: Decodable {
                var name: String
                var category: String
                var tid: Int32?
                var startNs: Int64
                var wallNs: Int64
                var cpuNs: Int64
            }

            struct Signpost: Decodable {
                var name: String
                var category: String
                var atNs: Int64
            }

            var ready: Ready?
            var intervals: [Interval]
            var signposts: [Signpost]
        }

        private func record(
            _ words: [String], of fixture: String = "signposts", options: [String] = []
        ) throws -> Recorded {
            try Firstlight.record(
                [try Setup.fixture(fixture)] + words, in: scratch,
                options: ["--quiet"] + options, adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
        }

        private func report(_ recorded: Recorded) throws -> Report {
            let text = try recorded.text("report", ["--format", "json"])
            return try JSONDecoder().decode(Report.self, from: Data(text.utf8))
        }

        private static let names = [
            "Hand over", "Load", "Parse", "Fetch", "Decode", "Index", "Draw",
        ]

        @Test(arguments: ["signposts", "signposts-static", "signposts-static-pie"])
        func intervalsAreKnown(fixture: String) throws {
            try intervals(of: fixture)
        }

        @Test(.needs("musl-gcc"), arguments: ["musl/signposts", "musl/signposts-static"])
        func muslsIntervalsAreKnown(fixture: String) throws {
            try intervals(of: fixture)
        }

        private func intervals(of fixture: String) throws {
            let report = try report(record(["nested"], of: fixture))
            #expect(Set(report.intervals.map(\.name)) == Set(Self.names))
            #expect(report.signposts.map(\.name) == ["First star"])
            #expect(Set(report.intervals.map(\.tid)).count == 2)
        }

        /// A static program has no list of libraries, but its signposts must also be switched off.
        @Test(arguments: ["signposts", "signposts-static"])
        func anAttachedProgramGoesOn(fixture: String) throws {
            let (input, output) = (try Channel(), try Channel())
            var command = Command([try Setup.fixture(fixture), "endless"])
            command.input = .descriptor(input.reader)
            command.output = output.writer
            let program = try command.start()
            input.closeReader()
            output.closeWriter()
            let words = ["attach", "--quiet", "--duration", "300ms", "-o", scratch("recording")]
            let result = try Firstlight.command(words + [String(program.pid)]).run()
            #expect(result.status == 0, "\(result.error)")
            try input.write("x\n")
            #expect(try output.line() == "x")
            kill(program.pid, SIGTERM)
            #expect(try program.finish().end == .signalled(SIGTERM))
        }

        /// Intervals of the category `launch` are phases, which cover the launch without gaps.
        @Test func launchIntervalsArePhases() throws {
            let recorded = try record(["nested"])
            let report = try recorded.json()
            #expect(report.phaseNames.filter { $0 == "Load" || $0 == "Draw" } == ["Load", "Draw"])
            #expect(report.phases.reduce(0) { $0 + $1.wallNs } == report.launch.wallNs)
            #expect(report.phases.reduce(0) { $0 + $1.cpuNs } == report.launch.cpuNs)
        }

        /// The sum of an interval's folded stacks is its CPU time.
        @Test func treesOfIntervalsAddUp() throws {
            let recorded = try record(["nested"])
            let intervals = try report(recorded).intervals
            for name in Self.names {
                let folded = try recorded.folded("--interval", name)
                let cpu = intervals.filter { $0.name == name }.reduce(0) { $0 + $1.cpuNs }
                // Folded stacks are in whole microseconds; their sum is rounded once.
                #expect(abs(folded.total * 1000 - cpu) <= 1000, "\(name)")
            }
        }

        @Test func aSignpostSaysThatTheLaunchIsOver() throws {
            let recorded = try record(["nested"], options: ["--until", "signpost:Load"])
            let report = try report(recorded)
            let load = report.intervals.first { $0.name == "Load" }
            #expect(report.ready?.by == "signpost:Load")
            #expect(report.ready?.atNs == load.map { $0.startNs + $0.wallNs })
        }

        /// Unusual signposts, children that inherit them, a handler that interrupts them, and more
        /// than a recording can keep.
        @Test(arguments: [["odd"], ["forked"], ["handler", "500"], ["many", "50000"]])
        func thoseThatFightBack(words: [String]) throws {
            try SideBySide(scratch: scratch).compare(fixture: ["signposts"] + words)
        }
    }
}
