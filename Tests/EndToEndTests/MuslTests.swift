import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Programs with musl, whose C library is also the dynamic linker, compared with their own
    /// measurements.
    @Suite(.needs("musl-gcc")) struct Musl {
        private static let phases = [
            "Process creation", "Dynamic linking", "Static initialisers", "Main",
        ]

        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func record(_ words: [String], options: [String] = []) throws -> Recorded {
            try Firstlight.record(
                [try Setup.fixture("musl/" + words[0])] + words.dropFirst(), in: scratch,
                options: options, adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
        }

        @Test(
            arguments: [
                ("static", phases), ("static-linked", phases.filter { $0 != "Dynamic linking" }),
            ])
        func phasesAreFound(variant: String, phases: [String]) throws {
            let report = try record([variant]).json()
            #expect(report.phaseNames == phases)
            #expect(report.brokenSums.isEmpty)
            for phase in ["Static initialisers", "Main"] {
                #expect(report.phase(phase)?.cpuNs ?? 0 > 0, "\(phase)")
            }
        }

        @Test func everyPhaseOfALongerLaunch() throws {
            let report = try record(["groundtruth"]).json()
            #expect(report.phaseNames == Self.phases)
            #expect(report.brokenSums.isEmpty)
        }

        /// Libraries' initialisers, in the linker's order, also those of a library that is loaded
        /// later.
        @Test func initialisersAndLibraries() throws {
            let plugin = try Setup.fixture("musl/libplugin.so")
            let recorded = try record(["loading", plugin])
            let report = try recorded.parts()
            let truth = try scratch.truth()
            #expect(try recorded.json().phaseNames == Self.phases)
            let computing = report.initializers.filter { $0.function.hasSuffix("_compute") }
            let names = ["inner", "outer", "side", "plugin"]
            #expect(
                computing.sorted { $0.startNs < $1.startNs }.map(\.function)
                    == names.sorted { truth["\($0)_began"] ?? 0 < truth["\($1)_began"] ?? 0 }
                    .map { $0 + "_compute" })
            #expect(report.initializers.contains { $0.function == "last" })
            for name in names {
                let compute = report.initializers.first { $0.function == "\(name)_compute" }
                let rest = report.initializers.first { $0.function == "\(name)_rest" }
                #expect(compute?.module == "lib\(name).so")
                #expect(compute?.wallNs ?? 0 > 0 && rest?.wallNs ?? 0 > 0)
            }
            let outer = report.library("libouter.so")
            #expect(outer?.requestedBy == (try Setup.fixture("musl/loading")))
            #expect(report.library("libinner.so")?.requestedBy == outer?.path)
            #expect(report.library("libplugin.so")?.wallNs ?? 0 > 0)
        }

        /// The program ends or forks within an initialiser, leaves one by a jump, or forbids system
        /// calls before it loads more; or it is left alone in the middle.
        @Test(arguments: [["exit"], ["fork"], ["jump"], ["filter"], []])
        func thoseThatFightBack(words: [String]) throws {
            let fixture = ["musl/loading", try Setup.fixture("musl/libplugin.so")] + words
            try SideBySide(scratch: scratch).compare(fixture: fixture)
            try SideBySide(scratch: scratch).compare(
                fixture: fixture, options: ["--duration", "30ms"])
            try SideBySide(scratch: scratch).compare(
                fixture: fixture, options: ["--duration", "110ms"])
        }

        @Test func measuredPhases() throws {
            let finished = try Firstlight.command([
                "measure", "-o", scratch("launches"), "-n", "3", "--format", "json", "--",
                try Setup.fixture("musl/static"),
            ]).run()
            #expect(finished.status == 0, "\(finished.error)")
            let report = try MeasureReport(finished.output)
            #expect(report.summary.phases.map(\.name) == Self.phases)
        }
    }
}
