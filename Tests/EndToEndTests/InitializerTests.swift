import Foundation
import Testing

extension EndToEnd {
    /// Libraries and their initialisers, at start-up and by `dlopen`, against what they measured
    /// themselves.
    @Suite struct Initializers {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// The parts of the JSON report that this is about.
        private struct Report: Decodable {
            struct Initializer: Decodable {
                var function: String
                var module: String
                var file: String?
                var line: Int?
                var startNs: Int64
                var wallNs: Int64
                var cpuNs: Int64
            }

            struct Library: Decodable {
                var path: String
                var startNs: Int64
                var wallNs: Int64?
                var requestedBy: String?
            }

            var initializers: [Initializer]
            var libraries: [Library]

            func library(_ name: String) -> Library? {
                libraries.first { $0.path.hasSuffix("/" + name) }
            }
        }

        private func program(_ words: String...) throws -> [String] {
            [try Setup.fixture("loading"), try Setup.fixture("libplugin.so")] + words
        }

        private func report(_ recorded: Recorded) throws -> Report {
            let text = try recorded.text("report", ["--format", "json"])
            return try JSONDecoder().decode(Report.self, from: Data(text.utf8))
        }

        /// Those whose order the dynamic linker promises: needed before needing, by priority. Where
        /// libside.so's come among them, they tell themselves.
        private static let order = [
            "inner_compute", "inner_rest", "outer_compute", "outer_rest", "own", "last",
            "plugin_compute", "plugin_rest",
        ]

        /// The child runs the rest of its constructors in the parent's area, beside it: once each
        /// called the other's.
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

        /// Whoever unwinds from an initialiser finds the linker behind it, and an exception ends as it
        /// does alone.
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
            #expect(try !report(recorded).initializers.isEmpty)
        }

        @Test(arguments: ["signal", "ptrace"]) func everyRunIsTimedExactly(capture: String) throws {
            try Misses.afterAttempts {
                let recorded = try Firstlight.record(
                    try program(), in: scratch, options: ["--capture", capture],
                    adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
                let report = try report(recorded)
                let truth = try scratch.truth()
                let own = report.initializers.filter { Self.order.contains($0.function) }
                // By stops alone nobody can tell our code in the program of filters for system
                // calls: what is loaded after main is only seen.
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
                var misses = Misses()
                for name in names {
                    let compute = report.initializers.first { $0.function == "\(name)_compute" }
                    let rest = report.initializers.first { $0.function == "\(name)_rest" }
                    #expect(compute?.module == "lib\(name).so")
                    #expect(compute?.file?.hasSuffix("library.c") == true && compute?.line == 15)
                    misses.checkExactly(
                        "\(name)'s wall", compute?.wallNs, truth: truth["\(name)_wall"])
                    misses.checkExactly(
                        "\(name)'s CPU", compute?.cpuNs, truth: truth["\(name)_cpu"])
                    misses.checkExactly(
                        "\(name)'s sleep", rest?.wallNs, truth: truth["\(name)_sleep"])
                }
                let plugin = report.library("libplugin.so")
                #expect(plugin != nil)
                if isWatchedOn {
                    // It begins when the linker tells, which has opened and mapped the file then.
                    misses.checkExactly("dlopen", plugin?.wallNs, truth: truth["dlopen_wall"])
                } else {
                    #expect(plugin?.wallNs == nil)
                }
                return misses
            }
        }

        @Test func whoAskedForALibrary() throws {
            let recorded = try Firstlight.record(try program(), in: scratch)
            let report = try report(recorded)
            let outer = report.library("libouter.so")
            #expect(outer?.requestedBy == (try Setup.fixture("loading")))
            #expect(report.library("libside.so")?.requestedBy == outer?.requestedBy)
            #expect(report.library("libinner.so")?.requestedBy == outer?.path)
            #expect(report.library("libplugin.so")?.requestedBy == nil)
            let text = try recorded.text("report", ["--view", "libraries"])
            let line = text.split(separator: "\n").first { $0.contains("libplugin.so") }
            #expect(line?.contains("load_plugin (loading.c:") == true, "\(text)")
        }

        /// Ends within an initialiser, forks there, leaves one by a jump, forbids system calls
        /// before it loads more.
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

extension Misses {
    /// `actual` may differ from `truth` by 1 ms: they differ by some 10 µs, and what comes between
    /// two clock reads (an interrupt, another thread) is seldom longer. In nanoseconds.
    fileprivate mutating func checkExactly(_ name: String, _ actual: Int64?, truth: Int64?) {
        check(name, actual, truth: truth, tolerance: 1_000_000)
    }
}
