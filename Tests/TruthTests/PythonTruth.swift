import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension Measured {
    /// Functions that Python runs, in stacks and imports.
    @Suite struct Python {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        @Test(
            .requires(!PythonPrograms.interpreters.isEmpty, "no CPython of 3.8 to 3.14"),
            arguments: PythonPrograms.interpreters)
        func functionsTakeWhatTheyMeasured(python: String) throws {
            try Truth.of("python's functions: \(python)") { figures in
                let recorded = try Firstlight.record(
                    [python, "-c", PythonPrograms.timed, scratch("truth")], in: scratch)
                let truth = try scratch.truth()
                let cpu = try recorded.folded("--weight", "cpu")
                let waits = try recorded.folded("--weight", "blocked")
                for name in [
                    "light", "heavy", "recursion", "generators", "callbacks", "made", "exceptions",
                    "coroutines", "waiting",
                ] {
                    figures.check(
                        "\(name) CPU", cpu.nanoseconds(through: name), truth: truth["\(name)_cpu"])
                    figures.check(
                        "\(name) waits", waits.nanoseconds(through: name),
                        truth: truth["\(name)_waits"])
                }
                // A thread's first moments may be over before the interpreter lists it.
                figures.check(
                    "threaded CPU", cpu.nanoseconds(through: "threaded"),
                    truth: truth["threaded_cpu"], floor: 6_000_000)
            }
        }

        /// Modules that each take a known time: the inner one twice as much.
        @Test(
            .requires(!PythonPrograms.interpreters.isEmpty, "no CPython of 3.8 to 3.14"),
            arguments: PythonPrograms.interpreters)
        func importsTakeWhatTheyTake(python: String) throws {
            let work = "x = 0\nfor i in range(900_000): x ^= i * 3\n"
            try scratch.write(work + work, to: "inner_module.py")
            try scratch.write("import inner_module\n" + work, to: "outer_module.py")
            try scratch.write("import outer_module\n" + work, to: "app.py")
            try Truth.of("python's imports: \(python)") { figures in
                let folded = try Firstlight.record([python, scratch("app.py")], in: scratch)
                    .folded("--weight", "wall")
                let outer = folded.nanoseconds(through: "import outer_module")
                let inner = folded.nanoseconds(through: "import inner_module")
                figures.check("the inner one is longer", isSo: inner > outer - inner)
            }
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
        func phasesTakeWhatTheProgramMeasured(python: String) throws {
            let work = "def unused(): pass\nx = 0\nfor i in range(1_500_000): x ^= i * 3\n"
            for (name, text) in [("heavy_module", work), ("app", Self.phased)] {
                try text.write(toFile: scratch("\(name).py"), atomically: true, encoding: .utf8)
            }
            try Truth.of("python's phases: \(python)") { figures in
                let recorded = try Firstlight.record(
                    [python, scratch("app.py"), scratch("truth")], in: scratch)
                let (report, truth) = (try recorded.json(), try scratch.truth())
                let parts = report.phases.filter { $0.partOf == "Main" }
                let tolerance = 3_000_000 + 2 * (parts.map(\.startPrecisionNs).max() ?? 0)
                for (name, key) in [("Imports", "imports"), ("Program", "program")] {
                    figures.check(
                        name, report.phase(name)?.wallNs, truth: truth[key],
                        tolerance: max(tolerance, (truth[key] ?? 0) * 3 / 100))
                }
                figures.check("borders are within", tolerance, isIn: 0...12_000_000)
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

        @Test(.requires(!PythonPrograms.interpreters.isEmpty, "no CPython of 3.8 to 3.14"))
        func manyThreadsThatWorkInTurnsAreSampled() throws {
            let python = try #require(PythonPrograms.interpreters.last)
            try scratch.write(Self.inTurns, to: "turns.py")
            try Truth.of("python threads in turns") { figures in
                let cpu = try Firstlight.record([python, scratch("turns.py")], in: scratch)
                    .folded("--weight", "cpu")
                let whole = Double(max(1, cpu.total)) * 10
                figures.check(
                    "not sampled", Double(cpu.nanoseconds(through: "[not sampled]")) / whole,
                    unit: "%", most: 20)
                figures.check(
                    "work", Double(cpu.nanoseconds(through: "work")) / whole, unit: "%", least: 50)
            }
        }

        @Test(.requires(!PythonPrograms.interpreters.isEmpty, "no CPython of 3.8 to 3.14"))
        func childrensFunctionsAreReadToo() throws {
            let python = try #require(PythonPrograms.interpreters.last)
            try Truth.of("functions of a python child") { figures in
                let recorded = try Firstlight.record(
                    [
                        "sh", "-c",
                        "\(python) -c '\(PythonPrograms.timed)' \(scratch("truth")); true",
                    ],
                    in: scratch, options: ["--quiet", "--follow-children"])
                let truth = try scratch.truth()
                let cpu = try recorded.folded("--weight", "cpu")
                for name in ["heavy", "exceptions", "coroutines"] {
                    // Events tell less of children.
                    figures.check(
                        "\(name) CPU", cpu.nanoseconds(through: name),
                        truth: truth["\(name)_cpu"], floor: 6_000_000)
                }
            }
        }
    }
}
