import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Functions that Python runs, in stacks and imports.
    @Suite struct Python {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        @Test(
            .requires(!PythonPrograms.interpreters.isEmpty, "no CPython of 3.8 to 3.14"),
            arguments: PythonPrograms.interpreters)
        func functionsAreNamed(python: String) throws {
            let recorded = try Firstlight.record(
                [python, "-c", PythonPrograms.timed, scratch("truth")], in: scratch)
            let cpu = try recorded.folded("--weight", "cpu")
            // Where most looks are missing, a function of some 70 ms may not have been seen.
            let isMuchMissed = try recorded.json().launch.isMuchMissed
            for name in ["heavy", "recursion"] {
                #expect(cpu.nanoseconds(through: name) > 0 || isMuchMissed, "\(name)")
            }
            // Functions call only `work`.
            for line in cpu.lines where line.functions.contains("heavy") {
                #expect(!line.functions.contains("recursion"), "\(line.functions)")
            }
        }

        /// Calls of all kinds, with known callers.
        private static let calling = """
            import sys, time
            def leaf(n):
                x = 0
                for i in range(n): x += i
                return x
            def called(n): leaf(300)
            def key(n):
                called(n)
                return n
            def generator(n):
                called(n)
                yield n
                leaf(200)
            class Made:
                def __init__(self, n): called(n)
                @property
                def value(self): return leaf(300)
            def by_generator(n):
                for _ in generator(n): pass
            def by_sorting(n): sorted([n, n + 1], key=key)
            def by_making(n): Made(n).value
            def by_map(n): list(map(key, [n]))
            code = compile("called(1)", "<made>", "exec")
            def by_exec(n): exec(code)
            def caller(n):
                by_generator(n)
                by_sorting(n)
                by_making(n)
                by_map(n)
                by_exec(n)
            def start():
                end = time.monotonic() + 2
                while time.monotonic() < end: caller(1)
            start()
            """

        /// The possible callers of each function.
        private static let callers: [String: Set<String>] = [
            "start": ["<module>"], "caller": ["start"],
            "by_generator": ["caller"], "by_sorting": ["caller"], "by_making": ["caller"],
            "by_map": ["caller"], "by_exec": ["caller"], "generator": ["by_generator"],
            "key": ["by_sorting", "by_map"], "Made.__init__": ["by_making"],
            "__init__": ["by_making"], "Made.value": ["by_making"], "value": ["by_making"],
            "called": ["key", "generator", "Made.__init__", "__init__", "<module>"],
            "leaf": ["called", "generator", "Made.value", "value"],
        ]

        @Test(
            .requires(!PythonPrograms.interpreters.isEmpty, "no CPython of 3.8 to 3.14"),
            arguments: PythonPrograms.interpreters)
        func noFalseCallers(python: String) throws {
            // Without `site`, whose functions may have the same names.
            let recorded = try Firstlight.record(
                [python, "-S", "-c", Self.calling], in: scratch)
            let folded = try recorded.folded("--no-phase", "--no-thread")
            var deep: Int64 = 0
            for line in folded.lines where line.functions.contains("start") {
                let functions = line.functions.filter {
                    Self.callers[$0] != nil || $0 == "<module>"
                }
                for (caller, function) in zip(functions, functions.dropFirst()) {
                    let isKnown =
                        Self.callers[function]?.contains(caller)
                        ?? (function == "<module>" && caller == "by_exec")
                    #expect(isKnown, "\(caller) → \(function)")
                }
                if functions.count > 4 { deep += line.count }
            }
            #expect(deep > 0)
        }

        /// Modules that import each other.
        @Test(
            .requires(!PythonPrograms.interpreters.isEmpty, "no CPython of 3.8 to 3.14"),
            arguments: PythonPrograms.interpreters)
        func importsAreNested(python: String) throws {
            let work = "x = 0\nfor i in range(900_000): x ^= i * 3\n"
            for (name, text) in [
                ("outer_module", "import inner_module\n" + work),
                ("inner_module", work + work), ("app", "import outer_module\n" + work),
            ] {
                try (text + "").write(
                    toFile: scratch("\(name).py"), atomically: true, encoding: .utf8)
            }
            let recorded = try Firstlight.record([python, scratch("app.py")], in: scratch)
            let folded = try recorded.folded("--weight", "wall")
            let outer = folded.nanoseconds(through: "import outer_module")
            let inner = folded.nanoseconds(through: "import inner_module")
            #expect(inner > 0)
            #expect(outer > inner)
            for line in folded.lines where line.frames.contains("import inner_module") {
                #expect(line.frames.contains("import outer_module"))
            }
            let text = try recorded.text("report", ["--view", "imports"])
            let lines = text.split(separator: "\n")
            let first = try #require(lines.firstIndex { $0.contains("import outer_module") })
            let second = try #require(lines.firstIndex { $0.contains("import inner_module") })
            #expect(first < second)
        }

        /// A program that itself takes the time at the borders of its phases.
        private static let phased = """
            import time
            begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            import heavy_module
            imported = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            import os, sys
            x = 0
            for i in range(2_000_000): x ^= i * 3
            end = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            with open(sys.argv[1], "w") as file:
                print(f"imports {imported - begin}\\nprogram {end - imported}", file=file)
            os._exit(0)
            """

        @Test(
            .requires(!PythonPrograms.interpreters.isEmpty, "no CPython of 3.8 to 3.14"),
            arguments: PythonPrograms.interpreters)
        func mainHasItsParts(python: String) throws {
            let work = "def unused(): pass\nx = 0\nfor i in range(1_500_000): x ^= i * 3\n"
            for (name, text) in [("heavy_module", work), ("app", Self.phased)] {
                try text.write(toFile: scratch("\(name).py"), atomically: true, encoding: .utf8)
            }
            let recorded = try Firstlight.record(
                [python, scratch("app.py"), scratch("truth")], in: scratch)
            let report = try recorded.json()
            let parts = report.phases.filter { $0.partOf == "Main" }
            #expect(
                parts.map(\.name) == ["Interpreter start-up", "Imports", "Program"])
            #expect(
                parts.reduce(0) { $0 + $1.wallNs }
                    == report.wholePhases.first { $0.name == "Main" }?.wallNs)
            #expect(report.phases.reduce(0) { $0 + $1.wallNs } == report.launch.wallNs)
            let unused = report.findings.filter { $0.kind == "unused-import" }
            #expect(
                unused.contains { $0.title.contains("heavy_module") } || report.launch.isMuchMissed)
        }

        /// Threads that work for a millisecond and sleep for some, more of them than there are timers.
        private static let inTurns = """
            import random, threading, time

            def work(seed):
                chance = random.Random(seed)
                end = time.monotonic() + 2
                while time.monotonic() < end:
                    sorted(chance.random() for _ in range(800))
                    time.sleep(chance.uniform(0.002, 0.008))

            threads = [threading.Thread(target=work, args=(seed,)) for seed in range(24)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            """

        @Test(.requires(!PythonPrograms.interpreters.isEmpty, "no CPython of 3.8 to 3.14"))
        func manyThreadsThatWorkInTurnsAreSampled() throws {
            let python = try #require(PythonPrograms.interpreters.last)
            try scratch.write(Self.inTurns, to: "turns.py")
            let cpu = try Firstlight.record([python, scratch("turns.py")], in: scratch)
                .folded("--weight", "cpu")
            #expect(cpu.nanoseconds(through: "work") > 0)
        }

        @Test(.requires(!PythonPrograms.interpreters.isEmpty, "no CPython of 3.8 to 3.14"))
        func aProgramThatNeverBeginsHasAWholeMain() throws {
            let python = try #require(PythonPrograms.interpreters.last)
            let report = try Firstlight.record([python, "--version"], in: scratch).json()
            #expect(report.phaseNames.last == "Main")
            #expect(report.phases.allSatisfy { $0.partOf == nil })
        }

        @Test(.requires(!PythonPrograms.interpreters.isEmpty, "no CPython of 3.8 to 3.14"))
        func childrensFunctionsAreReadToo() throws {
            let python = try #require(PythonPrograms.interpreters.last)
            let recorded = try Firstlight.record(
                ["sh", "-c", "\(python) -c '\(PythonPrograms.timed)' \(scratch("truth")); true"],
                in: scratch, options: ["--quiet", "--follow-children"])
            let cpu = try recorded.folded("--weight", "cpu")
            #expect(cpu.lines.contains { $0.functions.contains("work") })
        }
    }
}
