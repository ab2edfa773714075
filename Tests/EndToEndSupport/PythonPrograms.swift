import Foundation

/// Interpreters, and a program for them.
package enum PythonPrograms {
    /// Interpreters of the supported releases.
    package static let interpreters: [String] = {
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
    package static let timed = """
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
}
