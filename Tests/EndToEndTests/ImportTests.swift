import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// `firstlight import`, compared with perf's own report of the same file.
    @Suite(.needs("perf")) struct Import {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func record(_ options: [String], _ program: [String]) throws -> String {
            let data = scratch("perf.data")
            let command = ["perf", "record", "-q", "-F", "999", "-e", "cpu-clock:u", "-o", data]
            let finished = try Command(command + options + ["--"] + program).run()
            #expect(finished.status == 0, "\(finished.error)")
            return data
        }

        private func imported(_ data: String) throws -> Recorded {
            let path = scratch("recording")
            let finished = try Firstlight.run("import", data, "-o", path, "--quiet")
            #expect(finished.status == 0, "\(finished.error)")
            #expect(finished.error == "")
            return Recorded(path: path, finished: finished)
        }

        /// Each function's own share in percent, according to perf.
        private func perfShares(_ data: String) throws -> [String: Double] {
            let report = try Command([
                "perf", "report", "-i", data, "--stdio", "--no-children", "-g", "none", "-s",
                "symbol",
            ]).run()
            var shares: [String: Double] = [:]
            for line in report.output.split(separator: "\n") {
                let words = line.split(separator: " ")
                guard words.count >= 3, words[0].hasSuffix("%"),
                    let share = Double(words[0].dropLast())
                else { continue }
                shares[String(words[2])] = share
            }
            return shares
        }

        private func ownShares(_ folded: Folded) -> [String: Double] {
            var shares: [String: Double] = [:]
            for line in folded.lines {
                shares[line.frames.last ?? "", default: 0] +=
                    100 * Double(line.count) / Double(max(folded.total, 1))
            }
            return shares
        }

        @Test(arguments: ["dwarf", "fp"]) func sharesAreThoseOfPerf(callGraph: String) throws {
            let program = try Setup.fixture("groundtruth")
            let data = try record(["--call-graph", callGraph], [program])
            let recorded = try imported(data)
            let own = ownShares(try recorded.folded("--no-phase", "--no-thread"))
            let theirs = try perfShares(data)
            for name in ["burn_in_constructor", "burn_alpha", "burn_beta", "burn_thread"] {
                let (one, other) = (own[name] ?? 0, theirs[name] ?? 0)
                #expect(other > 10)
                #expect(abs(one - other) < 1, "\(name): \(one) %, perf says \(other) %")
            }
        }

        /// Each sample is as much time as any other, whatever perf wrote beside it.
        ///
        /// - Parameter clocks: the events that are the clock.
        @Test(
            arguments: [
                ([], ["cpu-clock"]),
                // Times since 1970.
                (["-k", "realtime"], ["cpu-clock"]), (["-k", "tai"], ["cpu-clock"]),
                (["--no-period"], ["cpu-clock"]),
                // One that counts everything is the clock, wherever it stands.
                (["-e", "cpu-clock:u"], ["cpu-clock"]),
                (["-e", "task-clock:u"], ["cpu-clock"]),
            ] as [([String], [String])])
        func totalsAreThoseOfPerf(options: [String], clocks: [String]) throws {
            try expectTotal(options + ["-e", "cpu-clock"], clocks)
        }

        /// Two that are never counted at the same time are one clock.
        @Test func clocksThatComplementEachOther() throws {
            let clocks = ["cpu-clock:u", "task-clock:k"]
            try expectTotal(clocks.flatMap { ["-e", $0] }, clocks)
        }

        private func expectTotal(_ options: [String], _ clocks: [String]) throws {
            let data = scratch("perf.data")
            let finished = try Command(
                ["perf", "record", "-q", "-F", "1000", "-o", data] + options
                    + ["--", try Setup.fixture("groundtruth")]
            ).run()
            #expect(finished.status == 0, "\(finished.error)")
            let report = try imported(data).json()
            let script = try Command(["perf", "script", "-i", data, "-F", "pid,event"]).run()
            let count = script.output.split(separator: "\n").count { line in
                let words = line.split(separator: " ").map(String.init)
                return words.first == "\(report.program.pid)"
                    && clocks.contains { words.last == $0 + ":" }
            }
            try #require(count > 100)
            // What the first samples stand for may reach back behind the thread's beginning.
            #expect(
                (Int64(count) * 99 / 100 - 3...Int64(count)).contains(
                    report.launch.cpuNs / 1_000_000),
                "\(report.launch.cpuNs) ns, \(count) samples")
        }

        private static let python = """
            import json
            def inner(n):
                return sum(i * i for i in range(n))
            class Made:
                def outer(self, n): return inner(n)
            for _ in range(60): Made().outer(40_000)
            """

        /// `-X perf` names the running functions; perf shows them as `py::…`, between the
        /// interpreter's.
        @Test(
            .requires(GeneratedCode.python != nil, "no CPython of 3.12 or later with -X perf"))
        func pythonsTrampolinesAreItsFunctions() throws {
            let python = try #require(GeneratedCode.python)
            let script = scratch("two words.py")
            try Self.python.write(toFile: script, atomically: true, encoding: .utf8)
            let data = try record(
                ["--call-graph", "dwarf"], [python, "-S", "-X", "perf", script])
            let recorded = try imported(data)
            let pid = try recorded.json().program.pid
            defer { unlink("/tmp/perf-\(pid).map") }
            let folded = try recorded.folded("--no-phase", "--no-thread")
            let order = ["<module>", "Made.outer", "inner", "inner.<locals>.<genexpr>"]
            var seen: Int64 = 0
            for line in folded.lines where line.frames.first != "[truncated]" {
                let functions = zip(line.frames, line.functions)
                    .filter { $0.0.hasSuffix(" (two words.py)") }.map(\.1)
                #expect(functions == Array(order.prefix(functions.count)))
                if functions.count >= 3 { seen += line.count }
            }
            #expect(seen * 2 > folded.total)
            // Nothing of the trampolines is left, and the functions replace the interpreter's loop.
            for line in folded.lines {
                #expect(!line.frames.contains { $0.hasPrefix("py::") })
                let calls = zip(line.frames, line.frames.dropFirst())
                #expect(!calls.contains { $0 == "py_trampoline_evaluator" && $1.contains(".py)") })
                #expect(
                    !calls.contains {
                        $0.contains(".py)") && $1.hasPrefix("_PyEval_EvalFrameDefault")
                    })
            }
        }

        @Test func stacksReachTheRoot() throws {
            let data = try record(["--call-graph", "dwarf"], [try Setup.fixture("groundtruth")])
            let report = try imported(data).json()
            #expect(report.launch.capture == "perf")
            #expect(report.launch.truncatedStacks * 2 <= report.launch.slices)
            // The time between samples is unknown.
            #expect(report.threads.allSatisfy { $0.sum == $0.runningNs && $0.sum <= $0.wallNs })
        }

        @Test func waitsAreThoseOfTheRecordsOfSwitches() throws {
            let command = Command(
                [
                    "perf", "record", "-q", "-F", "999", "-e", "cpu-clock:u", "--switch-events",
                    "--call-graph", "dwarf", "-o", scratch("perf.data"),
                    try Setup.fixture("groundtruth"),
                ], adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
            #expect(try command.run().status == 0)
            let report = try imported(scratch("perf.data")).json()
            // The fixture sleeps, and waits for its thread's work.
            let truth = try scratch.truth()
            let (slept, joined) = (truth["sleep_wall"] ?? 0, truth["join_wall"] ?? 0)
            try #require(slept > 0 && joined > 0)
            let main = try #require(report.threads.first)
            #expect(main.blockedNs > 0 && main.blockedNs <= main.wallNs)
        }

        @Test func filesOtherThanPerfsAreRefused() throws {
            let program = try Setup.fixture("groundtruth")
            let refused = try Firstlight.run("import", program, "-o", scratch("recording"))
            #expect(refused.isRefusal(1, mentioning: "is not a perf.data file"))
            #expect(!FileManager.default.fileExists(atPath: scratch("recording")))
        }

        @Test func aFileThatIsCutShortIsImportedUpToThere() throws {
            let data = try record(["--call-graph", "dwarf"], [try Setup.fixture("groundtruth")])
            let size = try #require(
                try FileManager.default.attributesOfItem(atPath: data)[.size] as? UInt64)
            let handle = try #require(FileHandle(forWritingAtPath: data))
            try handle.truncate(atOffset: size / 2)
            let path = scratch("recording")
            let finished = try Firstlight.run("import", data, "-o", path, "--quiet")
            #expect(finished.isRefusal(1, mentioning: "is cut short at byte "))
            let report = try Recorded(path: path, finished: finished).json()
            #expect(report.launch.slices > 0)
        }

        @Test func timingsNameEveryStep() throws {
            let data = try record(["--call-graph", "dwarf"], [try Setup.fixture("spin")])
            let path = scratch("recording")
            let finished = try Firstlight.run(
                "import", data, "-o", path, "--quiet", "--timings")
            for step in ["reading", "unwinding", "symbolicating", "writing"] {
                #expect(finished.error.contains("timing: \(step)"))
            }
            let report = try Firstlight.run("report", path, "--timings")
            for step in ["reading", "analysing", "printing"] {
                #expect(report.error.contains("timing: \(step) "))
            }
        }
    }
}
