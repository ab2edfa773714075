import EndToEndSupport
import Glibc
import TestSupport
import Testing

extension Measured {
    /// Libraries and their initialisers, at start-up and by `dlopen`, compared with their own
    /// measurements.
    @Suite struct Initializers {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func program(_ words: String...) throws -> [String] {
            [try Setup.fixture("loading"), try Setup.fixture("libplugin.so")] + words
        }

        @Test(arguments: ["signal", "ptrace"]) func everyRunIsTimedExactly(
            capture: String
        ) throws {
            try Truth.of("initialisers by \(capture)") { figures in
                let recorded = try Firstlight.record(
                    try program(), in: scratch, options: ["--capture", capture],
                    adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
                let report = try recorded.parts()
                let truth = try scratch.truth()
                // By stops alone, our code cannot report from a program with filters for system
                // calls: of later libraries only the loading is seen.
                let isWatchedOn = capture == "signal"
                let names = ["inner", "outer", "side"] + (isWatchedOn ? ["plugin"] : [])
                for name in names {
                    let compute = report.initializers.first { $0.function == "\(name)_compute" }
                    let rest = report.initializers.first { $0.function == "\(name)_rest" }
                    figures.checkExactly(
                        "\(name)'s wall", compute?.wallNs, truth: truth["\(name)_wall"])
                    figures.checkExactly(
                        "\(name)'s CPU", compute?.cpuNs, truth: truth["\(name)_cpu"])
                    figures.checkExactly(
                        "\(name)'s sleep", rest?.wallNs, truth: truth["\(name)_sleep"])
                }
                let plugin = report.library("libplugin.so")
                if isWatchedOn {
                    // It begins when the linker reports it; by then the linker has opened and
                    // mapped the file.
                    figures.checkExactly("dlopen", plugin?.wallNs, truth: truth["dlopen_wall"])
                }
            }
        }

        /// The program's own initialisers, without a dynamic linker that reports them. musl does
        /// not run preinit_array.
        @Test(
            arguments: [
                ("arrays-static", true), ("arrays-static-pie", true),
            ])
        func thoseOfStaticPrograms(variant: String, runsEarly: Bool) throws {
            try staticInitializers(of: variant, runsEarly: runsEarly)
        }

        @Test(.needs("musl-gcc")) func thoseOfMuslsStaticPrograms() throws {
            try staticInitializers(of: "musl/arrays-static", runsEarly: false)
        }

        private func staticInitializers(of variant: String, runsEarly: Bool) throws {
            let names = (runsEarly ? ["early"] : []) + ["first", "second", "third", "last"]
            try Truth.of("initialisers: \(variant)") { figures in
                let recorded = try Firstlight.record(
                    [try Setup.fixture(variant)], in: scratch,
                    adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
                let report = try recorded.parts()
                let truth = try scratch.truth()
                let own = report.initializers.filter { $0.file?.hasSuffix("/arrays.c") == true }
                try #require(own.count == names.count)
                for (name, run) in zip(names, own) {
                    figures.checkExactly(
                        "\(name)'s wall", run.wallNs, truth: truth["\(name)_wall"])
                    figures.checkExactly("\(name)'s CPU", run.cpuNs, truth: truth["\(name)_cpu"])
                }
            }
        }
    }
}

extension Truth {
    /// `actual` may differ from `truth` by 1 ms, in nanoseconds. Usually they differ by some 10 µs;
    /// an interrupt or another thread between two clock reads seldom takes longer.
    fileprivate mutating func checkExactly(_ name: String, _ actual: Int64?, truth: Int64?) {
        check(name, actual, truth: truth, tolerance: 1_000_000)
    }
}
