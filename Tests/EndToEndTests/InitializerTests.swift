import EndToEndSupport
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// Libraries and their initialisers, at start-up and by `dlopen`, compared with their own
    /// measurements.
    @Suite struct Initializers {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func program(_ words: String...) throws -> [String] {
            [try Setup.fixture("loading"), try Setup.fixture("libplugin.so")] + words
        }

        /// The initialisers whose order the dynamic linker guarantees: dependencies first, then by
        /// priority. Those of libside.so check their order themselves.
        private static let order = [
            "inner_compute", "inner_rest", "outer_compute", "outer_rest", "own", "last",
            "plugin_compute", "plugin_rest",
        ]

        /// Each of five libraries has gone before the next one comes, into the same place. The
        /// names of their initialisers are read when the program is over.
        @Test func librariesInOnePlace() throws {
            let program = [try Setup.fixture("swapper")]
            let alone = try Command(program).run()
            for _ in 0..<5 {
                let recorded = try Firstlight.record(program, in: scratch)
                #expect(recorded.finished == alone)
                let report = try recorded.parts()
                let wanted = ["a", "b", "c", "d", "e"]
                let loaded = report.libraries.filter { $0.path.contains("/swapped_") }
                #expect(
                    loaded.map { $0.path.split(separator: "/").last }
                        == wanted.map { "swapped_\($0).so" })
                let runs = report.initializers.filter { $0.function.hasPrefix("initialise_") }
                #expect(runs.map(\.function) == wanted.map { "initialise_\($0)" })
                #expect(runs.map(\.module) == wanted.map { "swapped_\($0).so" })
            }
        }

        /// The child runs the rest of its constructors in the area that it shares with its parent,
        /// at the same time. Once each of the two called the other's constructors.
        @Test func aConstructorThatForks() throws {
            let program = [try Setup.fixture("divided")]
            let alone = try Command(program).run()
            #expect(alone.output.contains("parent: 1000 of 1000, 0 wrong"))
            #expect(alone.output.contains("child: 1000 of 1000, 0 wrong"))
            for _ in 0..<20 {
                let recorded = try Firstlight.record(program, in: scratch)
                #expect(recorded.finished.output == alone.output)
            }
        }

        /// Unwinding from an initialiser leads to the linker, and an exception ends as without
        /// recording.
        @Test func anInitializersCallersAreAsAlone() throws {
            let program = [try Setup.fixture("throwing")]
            let alone = try Command(program).run()
            #expect(alone.output.contains("second: "))
            #expect(!alone.output.contains("third: "))
            #expect(alone.end == .signalled(SIGABRT))
            let path = scratch("recording")
            let finished = try Firstlight.recording(program, to: path).run()
            #expect(finished.output == alone.output)
            #expect(finished.status == 128 + SIGABRT)
            let recorded = Recorded(path: path, finished: finished)
            #expect(try !recorded.parts().initializers.isEmpty)
        }

        @Test(arguments: ["signal", "ptrace"]) func everyRunIsKnown(
            capture: String
        ) throws {
            let recorded = try Firstlight.record(
                try program(), in: scratch, options: ["--capture", capture],
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
            let report = try recorded.parts()
            let truth = try scratch.truth()
            let own = report.initializers.filter { Self.order.contains($0.function) }
            // By stops alone, our code cannot report from a program with filters for system
            // calls: of later libraries only the loading is seen.
            let isWatchedOn = capture == "signal"
            let names = ["inner", "outer", "side"] + (isWatchedOn ? ["plugin"] : [])
            let computing = report.initializers.filter { $0.function.hasSuffix("_compute") }
            #expect(
                computing.sorted { $0.startNs < $1.startNs }.map(\.function)
                    == names.sorted { truth["\($0)_began"] ?? 0 < truth["\($1)_began"] ?? 0 }
                    .map { $0 + "_compute" })
            #expect(
                own.sorted { $0.startNs < $1.startNs }.map(\.function)
                    == (isWatchedOn
                        ? Self.order : Self.order.filter { !$0.hasPrefix("plugin") }))
            for name in names {
                let compute = report.initializers.first { $0.function == "\(name)_compute" }
                let rest = report.initializers.first { $0.function == "\(name)_rest" }
                #expect(compute?.module == "lib\(name).so" && compute?.wallNs ?? 0 > 0)
                #expect(rest?.module == compute?.module && rest?.wallNs ?? 0 > 0)
                #expect(compute?.file?.hasSuffix("library.c") == true && compute?.line == 15)
            }
            let plugin = report.library("libplugin.so")
            #expect(plugin != nil)
            if isWatchedOn {
                #expect(plugin?.wallNs ?? 0 > 0)
            } else {
                #expect(plugin?.wallNs == nil)
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
            let recorded = try Firstlight.record(
                [try Setup.fixture(variant)], in: scratch,
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
            #expect(recorded.finished.output == names.joined(separator: " ") + " \n")
            let report = try recorded.parts()
            let own = report.initializers.filter { $0.file?.hasSuffix("/arrays.c") == true }
            #expect(own.map(\.function) == names.map { "run_\($0)" })
            let module = variant.split(separator: "/").last.map(String.init)
            #expect(own.allSatisfy { $0.module == module })
            #expect(own.allSatisfy { $0.wallNs > 0 && $0.cpuNs >= 0 })
        }

        /// The program ends or forks within an initialiser, or is left alone in the middle.
        @Test(arguments: ["arrays-static", "arrays-static-pie"], ["exit", "fork", ""])
        func staticOnesThatFightBack(fixture: String, mode: String) throws {
            let side = SideBySide(scratch: scratch)
            for options in [[], ["--duration", "30ms"], ["--duration", "90ms"]] {
                try side.compare(
                    fixture: [fixture], options: options, adding: ["ARRAYS_MODE": mode])
            }
        }

        @Test func theCallerThatLoadsALibraryIsNamed() throws {
            let recorded = try Firstlight.record(try program(), in: scratch)
            let report = try recorded.parts()
            let outer = report.library("libouter.so")
            #expect(outer?.requestedBy == (try Setup.fixture("loading")))
            #expect(report.library("libside.so")?.requestedBy == outer?.requestedBy)
            #expect(report.library("libinner.so")?.requestedBy == outer?.path)
            #expect(report.library("libplugin.so")?.requestedBy == nil)
            let text = try recorded.text("report", ["--view", "libraries"])
            let line = text.split(separator: "\n").last { $0.contains("libplugin.so") }
            #expect(line?.contains("load_plugin (loading.c:") == true, "\(text)")
        }

        /// The dynamic linker decides: `ldd -u` names libraries to which nothing is bound.
        @Test func unneededLibrariesAreNamed() throws {
            let program = try Setup.fixture("overlinked")
            let judge = try Command(["ldd", "-u", program]).run()
            let recorded = try Firstlight.record([program], in: scratch)
            let report = try recorded.parts()
            for name in ["libside.so", "libinner.so", "libm.so.6", "libc.so.6"] {
                let isNamed = judge.output.contains(name)
                #expect(isNamed == (name == "libside.so"), "\(judge.output)")
                #expect(report.library(name)?.referenced == !isNamed, "\(name)")
            }
            let text = try recorded.text("report", ["--view", "libraries"])
            let line = text.split(separator: "\n").last { $0.contains("libside.so") }
            // No library is called unused where many samples are missing.
            let isKnown = !text.contains("a fifth of the looks or more is missing")
            #expect(line?.contains(isKnown ? "none" : "?") == true, "\(text)")
        }

        /// The program ends or forks within an initialiser, leaves one by a jump, or forbids system
        /// calls before it loads more.
        @Test(arguments: [["exit"], ["fork"], ["jump"], ["filter"], []])
        func thoseThatFightBack(words: [String]) throws {
            let fixture = [try Setup.fixture("libplugin.so")] + words
            try SideBySide(scratch: scratch).compare(fixture: ["loading"] + fixture)
            try SideBySide(scratch: scratch).compare(
                fixture: ["loading"] + fixture, options: ["--duration", "30ms"])
            try SideBySide(scratch: scratch).compare(
                fixture: ["loading"] + fixture, options: ["--duration", "110ms"])
        }

        @Test func oneThatNeverReturns() throws {
            let path = scratch("recording")
            let finished = try Firstlight.recording(
                try program("exit"), to: path, options: ["--quiet"]
            ).run()
            #expect(finished.status == 3)
            let recorded = Recorded(path: path, finished: finished)
            let report = try recorded.text("report", ["--view", "initializers"])
            let line = report.split(separator: "\n").first { $0.contains(" own ") }
            #expect(line?.contains("never returned") == true, "\(report)")
        }
    }
}
