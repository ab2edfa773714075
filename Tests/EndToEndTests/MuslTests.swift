import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Programs with musl, whose C library is also the dynamic linker, compared with what they
    /// measured themselves.
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

        private func check(
            _ name: String, _ actual: Int64?, _ truth: Int64?, _ misses: inout Misses
        ) {
            let tolerance = max(2_000_000, (truth ?? 0) * 2 / 100)
            misses.check(name, actual, truth: truth, tolerance: tolerance)
        }

        @Test(
            .alone,
            arguments: [
                ("static", phases), ("static-linked", phases.filter { $0 != "Dynamic linking" }),
            ])
        func phasesAreNearTheTruth(variant: String, phases: [String]) throws {
            try Misses.afterAttempts {
                let report = try record([variant]).json()
                let truth = try scratch.truth()
                #expect(report.phaseNames == phases)
                #expect(report.brokenSums.isEmpty)
                var misses = Misses()
                check(
                    "initialisers", report.phase("Static initialisers")?.cpuNs,
                    truth["constructor_cpu"], &misses)
                check("main", report.phase("Main")?.cpuNs, truth["burn_cpu"], &misses)
                return misses
            }
        }

        @Test(.alone) func everyPhaseOfALongerLaunch() throws {
            try Misses.afterAttempts {
                let report = try record(["groundtruth"]).json()
                let truth = try scratch.truth()
                #expect(report.phaseNames == Self.phases)
                #expect(report.brokenSums.isEmpty)
                var misses = Misses()
                check(
                    "initialisers", report.phase("Static initialisers")?.cpuNs,
                    truth["constructor_cpu"], &misses)
                check("main", report.phase("Main")?.wallNs, truth["main_wall"], &misses)
                return misses
            }
        }

        /// Libraries' initialisers, in the linker's order, also those of a library that is loaded
        /// later.
        @Test(.alone) func initialisersAndLibraries() throws {
            try Misses.afterAttempts {
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
                var misses = Misses()
                for name in names {
                    let compute = report.initializers.first { $0.function == "\(name)_compute" }
                    let rest = report.initializers.first { $0.function == "\(name)_rest" }
                    #expect(compute?.module == "lib\(name).so")
                    check("\(name)'s wall", compute?.wallNs, truth["\(name)_wall"], &misses)
                    check("\(name)'s CPU", compute?.cpuNs, truth["\(name)_cpu"], &misses)
                    check("\(name)'s sleep", rest?.wallNs, truth["\(name)_sleep"], &misses)
                }
                let outer = report.library("libouter.so")
                #expect(outer?.requestedBy == (try Setup.fixture("musl/loading")))
                #expect(report.library("libinner.so")?.requestedBy == outer?.path)
                check(
                    "dlopen", report.library("libplugin.so")?.wallNs, truth["dlopen_wall"], &misses)
                return misses
            }
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
