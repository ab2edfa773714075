import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension Measured {
    /// Programs with musl, whose C library is also the dynamic linker, compared with their own
    /// measurements.
    @Suite(.needs("musl-gcc")) struct Musl {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func record(_ words: [String], options: [String] = []) throws -> Recorded {
            try Firstlight.record(
                [try Setup.fixture("musl/" + words[0])] + words.dropFirst(), in: scratch,
                options: options, adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
        }

        private func check(
            _ name: String, _ actual: Int64?, _ truth: Int64?, _ figures: inout Truth
        ) {
            let tolerance = max(2_000_000, (truth ?? 0) * 2 / 100)
            figures.check(name, actual, truth: truth, tolerance: tolerance)
        }

        @Test(arguments: ["static", "static-linked"])
        func phasesAreNearTheTruth(variant: String) throws {
            try Truth.of("musl: \(variant)") { figures in
                let report = try record([variant]).json()
                let truth = try scratch.truth()
                check(
                    "initialisers", report.phase("Static initialisers")?.cpuNs,
                    truth["constructor_cpu"], &figures)
                check("main", report.phase("Main")?.cpuNs, truth["burn_cpu"], &figures)
            }
        }

        @Test func everyPhaseOfALongerLaunch() throws {
            try Truth.of("musl: a longer launch") { figures in
                let report = try record(["groundtruth"]).json()
                let truth = try scratch.truth()
                check(
                    "initialisers", report.phase("Static initialisers")?.cpuNs,
                    truth["constructor_cpu"], &figures)
                check("main", report.phase("Main")?.wallNs, truth["main_wall"], &figures)
            }
        }

        /// Libraries' initialisers, in the linker's order, also those of a library that is loaded
        /// later.
        @Test func initialisersAndLibraries() throws {
            try Truth.of("musl: libraries") { figures in
                let plugin = try Setup.fixture("musl/libplugin.so")
                let recorded = try record(["loading", plugin])
                let report = try recorded.parts()
                let truth = try scratch.truth()
                let names = ["inner", "outer", "side", "plugin"]
                for name in names {
                    let compute = report.initializers.first { $0.function == "\(name)_compute" }
                    let rest = report.initializers.first { $0.function == "\(name)_rest" }
                    check("\(name)'s wall", compute?.wallNs, truth["\(name)_wall"], &figures)
                    check("\(name)'s CPU", compute?.cpuNs, truth["\(name)_cpu"], &figures)
                    check("\(name)'s sleep", rest?.wallNs, truth["\(name)_sleep"], &figures)
                }
                check(
                    "dlopen", report.library("libplugin.so")?.wallNs, truth["dlopen_wall"], &figures
                )
            }
        }
    }
}
