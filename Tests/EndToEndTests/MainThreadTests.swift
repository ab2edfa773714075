import Testing

extension EndToEnd {
    /// A program whose first thread only waits for another one has its main thread there.
    @Suite struct MainThreads {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func record(_ arguments: String...) throws -> Recorded {
            try Firstlight.record(
                [try Setup.fixture("launcher")] + arguments, in: scratch,
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
        }

        @Test func aLauncherThatOnlyJoins() throws {
            let misses = try Misses.afterAttempts {
                let recorded = try record()
                let (report, truth) = (try recorded.json(), try scratch.truth())
                let first = report.program.pid
                let program = try #require(truth["program"].map(Int32.init(truncatingIfNeeded:)))
                var misses = Misses()
                let tids = report.launch.mainThread.map(\.tid)
                if !tids.starts(with: [first, program]) { misses.add("\(tids)") }
                let wall = report.launch.mainThread.reduce(0) { $0 + $1.wallNs }
                if wall != report.launch.wallNs { misses.add("\(wall) ns in all") }
                let main = report.phase("Main")
                misses.check("CPU", main?.mainThread.runningNs, truth: truth["cpu"])
                // What it does is the main thread's, and nobody is told not to wait for it.
                let kinds = report.findings.map(\.kind)
                if kinds != ["sleep"] { misses.add("\(kinds)") }
                let sleep = report.findings.first
                misses.check("sleep", sleep?.savingNs, truth: truth["sleep"])
                if sleep?.title.hasPrefix("main thread sleeps in sleep_on_it") != true {
                    misses.add(sleep?.title ?? "no finding")
                }
                let line = "main thread: launcher (\(program)), for the first thread only waits"
                if try !recorded.text("report").contains(line) { misses.add("not in the summary") }
                return misses
            }
            #expect(misses.isEmpty, "\(misses)")
        }

        /// Threads that share the work are no main thread: the first one waits for them.
        @Test func aPoolOfTwo() throws {
            let recorded = try record("pool")
            let report = try recorded.json()
            #expect(report.launch.mainThread.map(\.tid) == [report.program.pid])
            #expect(try !recorded.text("report").contains("only waits for it"))
        }
    }
}
