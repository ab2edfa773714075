import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Functions that Python runs, in stacks and imports.
    @Suite struct Python {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// Interpreters of the supported releases.
        static let interpreters: [String] = {
            let folder = (Setup.environment["HOME"] ?? "") + "/.pyenv/versions"
            let own = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            let all = own.sorted().map { "\(folder)/\($0)/bin/python3" } + ["/usr/bin/python3"]
            return all.filter { path in
                let check = "import sys; sys.exit(not (3, 8) <= sys.version_info[:2] <= (3, 14))"
                return (try? Command([path, "-c", check]).run())?.status == 0
            }
        }()

        /// Functions that measure themselves, by their thread's clock, the wall clock and, for how
        /// long they wanted a core, the scheduler's counters.
        private static let timed = """
            import asyncio, functools, sys, threading, time
            truth = {}
            def clocks():
                with open("/proc/thread-self/schedstat") as file: wanting = int(file.read().split()[1])
                return time.thread_time_ns(), time.monotonic_ns(), wanting
            def clocked(function):
                @functools.wraps(function)
                def run(*arguments):
                    cpu, wall, wanting = clocks()
                    function(*arguments)
                    later = clocks()
                    run = later[0] - cpu
                    truth[function.__name__] = run, later[1] - wall - run - (later[2] - wanting)
                return run
            def work(n):
                x = 0
                for i in range(n): x ^= i * 3
                return x
            @clocked
            def light(): work(600_000)
            @clocked
            def heavy():
                for _ in range(3): work(600_000)
            @clocked
            def recursion():
                def call(n): return work(900_000) if n == 0 else call(n - 1)
                call(100)
            @clocked
            def generators():
                def one():
                    for _ in range(4):
                        work(200_000)
                        yield 1
                for _ in one(): pass
            @clocked
            def callbacks(): sorted(range(8), key=lambda value: work(100_000))
            @clocked
            def made(): exec(compile("for _ in range(4): work(200_000)", "<made>", "exec"), globals())
            @clocked
            def exceptions():
                for _ in range(4):
                    try:
                        work(200_000)
                        raise ValueError
                    except ValueError: work(20_000)
            async def coroutine(n):
                work(n)
                await asyncio.sleep(0)
                work(n)
            @clocked
            def coroutines(): asyncio.run(coroutine(400_000))
            @clocked
            def waiting(): time.sleep(0.08)
            @clocked
            def threaded(): work(2_000_000)
            work(2_000_000)
            for function in (light, heavy, recursion, generators, callbacks, made, exceptions,
                             coroutines, waiting):
                function()
            thread = threading.Thread(target=threaded)
            thread.start()
            thread.join()
            with open(sys.argv[1], "w") as file:
                for name, (cpu, waits) in truth.items():
                    print(f"{name}_cpu {cpu}\\n{name}_waits {waits}", file=file)
            """

        @Test(
            .alone,
            .enabled(if: !interpreters.isEmpty, "no CPython of 3.8 to 3.14"),
            arguments: interpreters)
        func functionsTakeWhatTheyMeasured(python: String) throws {
            try Misses.afterAttempts {
                let recorded = try Firstlight.record(
                    [python, "-c", Self.timed, scratch("truth")], in: scratch)
                let truth = try scratch.truth()
                let cpu = try recorded.folded("--weight", "cpu")
                let waits = try recorded.folded("--weight", "blocked")
                var misses = Misses()
                for name in [
                    "light", "heavy", "recursion", "generators", "callbacks", "made", "exceptions",
                    "coroutines", "waiting",
                ] {
                    misses.check(
                        "\(name) CPU", cpu.nanoseconds(through: name), truth: truth["\(name)_cpu"])
                    misses.check(
                        "\(name) waits", waits.nanoseconds(through: name),
                        truth: truth["\(name)_waits"])
                }
                // A thread's first moments may be over before the interpreter lists it.
                misses.check(
                    "threaded CPU", cpu.nanoseconds(through: "threaded"),
                    truth: truth["threaded_cpu"], floor: 6_000_000)
                return misses
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
            .enabled(if: !interpreters.isEmpty, "no CPython of 3.8 to 3.14"),
            arguments: interpreters)
        func nobodyIsCalledByWhoDoesNot(python: String) throws {
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
            #expect(deep * 2 > folded.total)
        }

        /// Modules that each take a known time.
        @Test(
            .alone,
            .enabled(if: !interpreters.isEmpty, "no CPython of 3.8 to 3.14"),
            arguments: interpreters)
        func importsTakeWhatTheyTake(python: String) throws {
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
            #expect(inner > (outer - inner))
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
            .alone,
            .enabled(if: !interpreters.isEmpty, "no CPython of 3.8 to 3.14"),
            arguments: interpreters)
        func phasesTakeWhatTheProgramMeasured(python: String) throws {
            let work = "def unused(): pass\nx = 0\nfor i in range(1_500_000): x ^= i * 3\n"
            for (name, text) in [("heavy_module", work), ("app", Self.phased)] {
                try text.write(toFile: scratch("\(name).py"), atomically: true, encoding: .utf8)
            }
            try Misses.afterAttempts {
                let recorded = try Firstlight.record(
                    [python, scratch("app.py"), scratch("truth")], in: scratch)
                let (report, truth) = (try recorded.json(), try scratch.truth())
                let parts = report.phases.filter { $0.partOf == "Main" }
                #expect(
                    parts.map(\.name) == ["Interpreter start-up", "Imports", "Program"])
                #expect(
                    parts.reduce(0) { $0 + $1.wallNs }
                        == report.wholePhases.first { $0.name == "Main" }?.wallNs)
                #expect(report.phases.reduce(0) { $0 + $1.wallNs } == report.launch.wallNs)
                let unused = report.findings.filter { $0.kind == "unused-import" }
                #expect(unused.contains { $0.title.contains("heavy_module") })
                var misses = Misses()
                let tolerance = 3_000_000 + 2 * (parts.map(\.startPrecisionNs).max() ?? 0)
                for (name, key) in [("Imports", "imports"), ("Program", "program")] {
                    misses.check(
                        name, report.phase(name)?.wallNs, truth: truth[key],
                        tolerance: max(tolerance, (truth[key] ?? 0) * 3 / 100))
                }
                if tolerance > 12_000_000 { misses.add("borders within \(tolerance) ns only") }
                return misses
            }
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

        @Test(.enabled(if: !interpreters.isEmpty, "no CPython of 3.8 to 3.14"))
        func manyThreadsThatWorkInTurnsAreSampled() throws {
            let python = try #require(Self.interpreters.last)
            try scratch.write(Self.inTurns, to: "turns.py")
            let cpu = try Firstlight.record([python, scratch("turns.py")], in: scratch)
                .folded("--weight", "cpu")
            #expect(cpu.total > 100_000)
            #expect(cpu.nanoseconds(through: "[not sampled]") < cpu.total * 1000 / 5)
            #expect(cpu.nanoseconds(through: "work") > cpu.total * 1000 / 2)
        }

        @Test(.enabled(if: !interpreters.isEmpty, "no CPython of 3.8 to 3.14"))
        func aProgramThatNeverBeginsHasAWholeMain() throws {
            let python = try #require(Self.interpreters.last)
            let report = try Firstlight.record([python, "--version"], in: scratch).json()
            #expect(report.phaseNames.last == "Main")
            #expect(report.phases.allSatisfy { $0.partOf == nil })
        }

        @Test(.alone, .enabled(if: !interpreters.isEmpty, "no CPython of 3.8 to 3.14"))
        func childrensFunctionsAreReadToo() throws {
            let python = try #require(Self.interpreters.last)
            try Misses.afterAttempts {
                let recorded = try Firstlight.record(
                    ["sh", "-c", "\(python) -c '\(Self.timed)' \(scratch("truth")); true"],
                    in: scratch, options: ["--quiet", "--follow-children"])
                let truth = try scratch.truth()
                let cpu = try recorded.folded("--weight", "cpu")
                var misses = Misses()
                for name in ["heavy", "exceptions", "coroutines"] {
                    // Events tell less of children. On a busy machine a look may come too late for
                    // all of a function, so nothing instead of plenty is a timing here.
                    misses.check(
                        "\(name) CPU", max(1, cpu.nanoseconds(through: name)),
                        truth: truth["\(name)_cpu"], floor: 6_000_000)
                }
                return misses
            }
        }
    }
}
