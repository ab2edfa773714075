import EndToEndSupport
import TestSupport
import Testing

extension EndToEnd {
    /// Threads, libraries, programs and processes that begin and end while they are recorded.
    @Suite struct Lifecycles {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        @discardableResult
        private func compare(_ words: [String]) throws -> LaunchReport {
            try SideBySide(scratch: scratch).compare(fixture: words)
        }

        @Test(arguments: [["threadlife", "exits"], ["threads", "8"]])
        func threads(words: [String]) throws { try compare(words) }

        /// The threads' stacks are unmapped and mapped again all the time. There are several runs,
        /// because it is a matter of luck what a handler meets.
        @Test(arguments: 1...4) func twoThousandShortThreads(run: Int) throws {
            try compare(["threadlife", "churn"])
        }

        @Test func theMainThreadEndsFirst() throws {
            let report = try compare(["threadlife", "main"])
            #expect(report.program.exitStatus == 6)
            #expect(report.threads.count == 4)
        }

        @Test func libraries() throws {
            let report = try compare(["plugins"])
            #expect(report.modules.contains { $0.path.hasSuffix("/plugin.so") })
            #expect(report.totalCPU(of: "plugin_work") > 0)
        }

        @Test(arguments: [
            ["forkers", "fork"], ["forkers", "vfork", "200"], ["forkers", "spawn", "200"],
        ])
        func processes(words: [String]) throws { try compare(words) }

        @Test(arguments: ["static", "static-pie", "no-pie", "stripped"])
        func linkings(fixture: String) throws { try compare([fixture]) }

        @Test func aWrapperThatExecutes() throws {
            let program = try Setup.fixture("spin")
            let report = try SideBySide(scratch: scratch).compare(["sh", "-c", "exec \(program)"])
            #expect(report.phaseNames.contains("Wrapper: sh") || report.launch.hasLateExec)
            #expect(report.program.path == program)
        }

        /// Each program executes the next one while it has a second thread.
        @Test func aProgramThatExecutesItself() throws {
            let report = try compare(["reexec"])
            let wrappers = report.phaseNames.count { $0 == "Wrapper: reexec" }
            #expect(wrappers == 3 || wrappers < 3 && report.launch.hasLateExec)
            #expect(report.program.exitStatus == 4)
        }

        @Test func descriptorsAreClosedWholesale() throws { try compare(["closer"]) }

        /// What a program can see of us in /proc is attached to the test's result, but not judged.
        @Test func aProgramThatLooksAtItself() throws {
            try SideBySide(scratch: scratch).compare(
                fixture: ["watchful"], adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
            let truth = try scratch.truth()
            #expect(truth["looks"] == 200)
            let lines = truth.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }
            Attachment.record(lines.joined(), named: "watchful.txt")
        }
    }
}
