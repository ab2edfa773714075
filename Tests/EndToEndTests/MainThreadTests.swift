import EndToEndSupport
import TestSupport
import Testing

extension EndToEnd {
    /// If a program's first thread only waits for another one, that one is the main thread.
    @Suite struct MainThreads {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func record(_ arguments: String...) throws -> Recorded {
            try Firstlight.record(
                [try Setup.fixture("launcher")] + arguments, in: scratch,
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
        }

        @Test func aLauncherThatOnlyJoins() throws {
            let recorded = try record()
            let (report, truth) = (try recorded.json(), try scratch.truth())
            let first = report.program.pid
            let program = try #require(truth["program"].map(Int32.init(truncatingIfNeeded:)))
            let tids = report.launch.mainThread.map(\.tid)
            #expect(tids.first == first && Set(tids).isSubset(of: [first, program]))
            let wall = report.launch.mainThread.reduce(0) { $0 + $1.wallNs }
            #expect(wall == report.launch.wallNs)
            let line = "main thread: launcher (\(program)), because the first thread only waits"
            let isKnown = tids.contains(program)
            #expect(try recorded.text("report", ["--full"]).contains(line) == isKnown)
            // On a busy machine the first thread may have seemed to do something else. `make truth`
            // counts how often.
            guard isKnown else { return }
            // Findings are about this thread, and none says not to wait for it.
            let told = report.findings.compactMap(\.waitedFor?.tid)
            #expect(!told.contains(program))
            let sleep = report.findings.first { $0.kind == "sleep" }
            // In a launch that a busy machine makes long it is none.
            #expect(sleep.map { $0.title.hasPrefix("main thread sleeps") } != false)
        }

        /// If several threads share the work, none of them is the main thread: the first thread
        /// waits for all.
        @Test func aPoolOfTwo() throws {
            let recorded = try record("pool")
            let report = try recorded.json()
            #expect(report.launch.mainThread.map(\.tid) == [report.program.pid])
            #expect(try !recorded.text("report", ["--full"]).contains("only waits for it"))
        }
    }
}
