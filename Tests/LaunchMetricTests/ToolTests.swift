import Foundation
import Testing

@testable import LaunchMetric

@Suite struct ToolTests {
    private func find(_ environment: [String: String], there: Set<String>) throws -> String {
        try FirstlightTool.find(environment: environment) { there.contains($0) }.path
    }

    @Test func places() throws {
        let there: Set<String> = ["/a/firstlight", "/b/firstlight", "./firstlight", "/x/fl"]
        #expect(try find(["PATH": "/none:/b:/a"], there: there) == "/b/firstlight")
        #expect(try find(["PATH": "/none::/a"], there: there) == "./firstlight")
        #expect(try find(["FIRSTLIGHT": "/x/fl", "PATH": "/a"], there: there) == "/x/fl")
        #expect(try find(["FIRSTLIGHT": "", "PATH": "/a"], there: there) == "/a/firstlight")
    }

    @Test func nowhere() {
        let missing = #expect(throws: LaunchMetricError.self) {
            try find(["PATH": "/none"], there: [])
        }
        #expect(missing?.description.contains("make install") == true)
        // If a program is named, only that one counts.
        let wrong = #expect(throws: LaunchMetricError.self) {
            try find(["FIRSTLIGHT": "/x/fl", "PATH": "/a"], there: ["/a/firstlight"])
        }
        #expect(wrong?.description.contains("'/x/fl'") == true)
        #expect(throws: LaunchMetricError.self) { try find([:], there: []) }
    }

    @Test func foldersAreNoPrograms() {
        #expect(throws: LaunchMetricError.self) {
            try FirstlightTool.find(environment: ["FIRSTLIGHT": "/tmp"])
        }
    }

    /// More than a pipe holds, on both streams.
    @Test func muchOutput() async throws {
        let tool = FirstlightTool(path: "/bin/sh")
        let output = try await tool.run([
            "-c", "head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2; exit 3",
        ])
        #expect(output.status == 3)
        #expect(output.text.count == 300_000)
        #expect(output.complaints.utf8.count == 4096)
    }

    @Test func endedByASignal() async throws {
        #expect(try await FirstlightTool(path: "/bin/sh").run(["-c", "kill -9 $$"]).status == 137)
    }

    /// Not even those that this thread blocks.
    @Test func noSignalIsBlocked() async throws {
        let output = try await FirstlightTool(path: "/bin/grep").run([
            "-E", "^Sig(Blk|Ign)", "/proc/self/status",
        ])
        let masks = String(decoding: output.text, as: UTF8.self).split(separator: "\n")
        #expect(masks.count == 2)
        #expect(masks[0].hasSuffix("\t0000000000000000"))
    }

    @Test func notStarted() async throws {
        await #expect(throws: (any Error).self) {
            try await FirstlightTool(path: "/none/firstlight").run([])
        }
    }

    /// Cancelling ends the running command: the shell reports by a file that it runs.
    @Test func cancelled() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        try #require(mkfifo(folder.path + "/there", 0o600) == 0)
        let tool = FirstlightTool(path: "/bin/sh")
        let there = folder.path + "/there"
        let task = Task { try await tool.run(["-c", "echo > '\(there)'; exec sleep 1000"]) }
        // On a thread of its own: those that tasks share may all be taken.
        let said = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let file = try? FileHandle(forReadingFrom: URL(fileURLWithPath: there))
                continuation.resume(returning: try? file?.readToEnd())
            }
        }
        #expect(said == Data("\n".utf8))
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let early = Task { () async throws in
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await tool.run(["-c", "exit 0"])
        }
        await #expect(throws: CancellationError.self) { try await early.value }
    }

    /// One after the other.
    @Test func turns() async {
        let turn = MeasuringTurn()
        let inside = Counter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    await turn.take {
                        await inside.enter()
                        await Task.yield()
                        await inside.leave()
                    }
                }
            }
        }
        #expect(await inside.most == 1)
        #expect(await inside.visits == 50)
    }

    private actor Counter {
        private var now = 0
        private(set) var most = 0
        private(set) var visits = 0
        func enter() {
            now += 1
            visits += 1
            most = max(most, now)
        }
        func leave() { now -= 1 }
    }
}

@Suite struct WordTests {
    @Test func quoting() {
        #expect(
            LaunchBaseline.quoted(["a", "b c", "", "it's", "$x\\"])
                == #"'a' 'b c' '' 'it'\''s' '$x\'"#)
    }

    @Test(arguments: [
        (LaunchEnd.exit, [String]()), (.ready, ["notify"]), (.listening(port: 80), ["listen:80"]),
        (.output(containing: "x y"), ["output:x y"]),
        (.idle(for: .milliseconds(5)), ["idle:5000000ns"]),
        (.any(of: .window, .frame, .listening, .output), ["window", "frame", "listen", "output"]),
        (.condition("signpost:a"), ["signpost:a"]),
    ])
    func ends(end: LaunchEnd, conditions: [String]) {
        let request = LaunchRequest(
            program: "p", arguments: [], launches: 1, end: end, coldness: .allCold, options: [])
        let words = request.measuring(output: "o")
        let found = zip(words, words.dropFirst()).filter { $0.0 == "--until" }.map(\.1)
        #expect(found == conditions)
        #expect(words.contains("--cold=all"))
    }

    @Test func durations() {
        #expect(Duration.seconds(Int64.max).nanoseconds == .max)
        #expect(Duration.seconds(Int64.min).nanoseconds == .min)
        #expect(Duration.microseconds(1).nanoseconds == 1_000)
    }
}

@Suite struct ReportTests {
    private let place = TestPlace(fileID: #fileID, filePath: #filePath, line: #line, column: 1)

    private func verdict(_ outcome: LaunchVerdict.Outcome) -> LaunchVerdict {
        LaunchVerdict(
            outcome: outcome, sentence: "so it is", change: nil, bounds: nil, difference: nil)
    }

    @Test func aFailureIsAnIssue() {
        withKnownIssue {
            TestReport.tell(verdict(.failed), at: place)
        } matching: { issue in
            issue.comments == ["so it is"] && issue.severity == .error
                && issue.sourceLocation?.line == Int(place.line)
        }
    }

    @Test func nothingIsSaidOfWhatPassed() { TestReport.tell(verdict(.passed), at: place) }
}
