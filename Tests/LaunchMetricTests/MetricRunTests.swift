import Foundation
import Testing

@testable import LaunchMetric

@Suite struct MetricRunTests {
    @Test func figures() async throws {
        let made = try MadeTool(MadeReport())
        let found = try await made.run().measure(saveTo: nil)
        #expect(found.program == "/opt/app")
        #expect(found.count == 10)
        #expect(found.wall.median == .milliseconds(100))
        #expect(found.wall.interval == .milliseconds(99) ... .milliseconds(101))
        #expect(found.wall.percentile90 == nil)
        #expect(found.wall.minimum == .milliseconds(95))
        #expect(found.phases.map(\.name) == ["Main"])
        #expect(found.phases[0].cpu == nil)
        #expect(found.cpu?.median == .milliseconds(100))
        #expect(found.mainBlocked == nil)
        #expect(found.readBytes?.median == 0.5)
        #expect(found.launches.map(\.discarded) == ["first", nil])
        #expect(found.launches.map(\.isBaseline) == [false, true])
        #expect(found.launches.map(\.status) == [0, nil])
        #expect(found.launches[1].cpu == .milliseconds(5) && found.launches[1].readBytes == 4096)
        #expect(found.notes == ["it drifts"])
        #expect(found.verdict == nil)
    }

    @Test func words() async throws {
        let made = try MadeTool(MadeReport())
        let run = try made.run(
            launches: 7, end: .any(of: .ready, .idle(for: .seconds(1))), coldness: .cold,
            options: ["--network", "3G"])
        _ = try await run.measure(saveTo: "/kept")
        #expect(
            made.asked == [
                [
                    "measure", "--format", "json", "-o", "/kept", "-n", "7", "--until", "notify",
                    "--until", "idle:1000000000ns", "--cold", "--network", "3G", "--", "/opt/new",
                    "-x", "a b",
                ]
            ])
    }

    /// A gate decides, and its launches are reported.
    @Test func wordsForAGate() async throws {
        let made = try MadeTool(MadeAnswer())
        let run = try made.run(
            .command(["/opt/old", "it's"]), launches: 5, end: .ready, maxRegression: 0.025,
            options: ["--disk", "1M"])
        _ = try await run.measure(saveTo: "/kept")
        #expect(
            made.asked == [
                [
                    "gate", "--format", "json", "-o", "/kept", "--max-launches", "7",
                    "--max-regression", "2.500000%", "--baseline", #"'/opt/old' 'it'\''s'"#,
                    "--until", "notify", "--warm", "--disk", "1M", "--", "/opt/new", "-x", "a b",
                ], ["report", "--format", "json", "--", "/kept"],
            ])
    }

    /// A file's name is a path, and never taken for an option or a command.
    @Test func aStoredBaseline() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let kept = folder.path + "/kept"
        let made = try MadeTool(MadeAnswer(verdict: "inconclusive", basis: "stored", status: 3))
        #expect(throws: LaunchMetricError.invalidArgument("the baseline \(kept) does not exist")) {
            try made.run(.file(kept))
        }
        try "".write(toFile: kept, atomically: false, encoding: .utf8)
        let found = try await made.run(.file(kept)).measure(saveTo: nil)
        let words = try #require(made.asked.first)
        #expect(zip(words, words.dropFirst()).contains { $0 == ("--baseline", kept) })
        #expect(found.verdict?.outcome == .inconclusive && found.verdict?.bounds == -0.01...0.02)
        #expect(LaunchBaseline.file("-x").word.hasSuffix("/-x"))
    }

    /// A measurement that is not kept leaves nothing behind.
    @Test func nothingIsLeft() async throws {
        let made = try MadeTool(MadeReport())
        _ = try await made.run().measure(saveTo: nil)
        let words = try #require(made.asked.first)
        let place = try #require(words.firstIndex(of: "-o")) + 1
        #expect(words[place].hasSuffix("/launches.firstlight"))
        let folder = (words[place] as NSString).deletingLastPathComponent
        #expect(!FileManager.default.fileExists(atPath: folder))
        #expect(words.contains("--warm") && !words.contains("--until"))
    }

    @Test(
        arguments: [
            ("passed", 0, .passed), ("regression", 1, .failed), ("inconclusive", 3, .inconclusive),
        ] as [(String, Int32, LaunchVerdict.Outcome)])
    func verdicts(word: String, status: Int32, outcome: LaunchVerdict.Outcome) async throws {
        let made = try MadeTool(
            MadeAnswer(verdict: word, change: (10, 5, 15), status: status), MadeReport(median: 110))
        let found = try await made.run(.command(["/opt/old"])).measure(saveTo: nil)
        let verdict = try #require(found.verdict)
        #expect(verdict.outcome == outcome)
        #expect(verdict.sentence == "so it is; for one; for another")
        #expect(verdict.change == 0.1 && verdict.bounds == 0.05...0.15)
        #expect(verdict.difference == .milliseconds(10))
        #expect(found.wall.median == .milliseconds(110))
    }

    @Test func tooFewLaunches() async throws {
        let made = try MadeTool(MadeAnswer(verdict: "inconclusive", change: nil, status: 3))
        let verdict = try await made.run(.command(["/opt/old"])).measure(saveTo: nil).verdict
        #expect(verdict?.outcome == .inconclusive)
        #expect(verdict?.change == nil && verdict?.bounds == nil && verdict?.difference == nil)
    }

    @Test func refusals() throws {
        let made = try MadeTool(MadeReport())
        for launches in [0, -1, 100_001] {
            #expect(throws: LaunchMetricError.self) { try made.run(launches: launches) }
        }
        for share in [-0.01, 1.01, .nan, .infinity] {
            #expect(throws: LaunchMetricError.self) { try made.run(maxRegression: share) }
        }
        for words in [[], [""]] {
            #expect(throws: LaunchMetricError.self) { try made.run(.command(words)) }
        }
    }

    @Test func failures() async throws {
        let made = try MadeTool(MadeReport(), status: 127, complaint: "cannot run x")
        await #expect(throws: LaunchMetricError.failed(status: 127, message: "cannot run x")) {
            try await made.run().measure(saveTo: nil)
        }
        // A gate that is inconclusive ends so; a measurement does not.
        let silent = try MadeTool(MadeReport(), status: 3)
        let error = await #expect(throws: LaunchMetricError.self) {
            try await silent.run().measure(saveTo: nil)
        }
        #expect(error?.description == "firstlight ended with status 3")
        let empty = try MadeTool(MadeReport(counted: 0))
        await #expect(
            throws: LaunchMetricError.unreadable("firstlight reported no launch that counts")
        ) { try await empty.run().measure(saveTo: nil) }
    }
}

@Suite struct DocumentTests {
    private func document(_ text: String) throws -> MeasurementDocument {
        try MeasurementDocument(Data(text.utf8))
    }

    @Test func unknownMetricsAreRefused() throws {
        let newer = MadeReport(schema: 2)
        for text in [
            "", "{}", "[]", "null", newer.json, MadeReport(kind: "recording").json,
            String(MadeReport().json.dropLast(40)),
        ] {
            #expect(throws: LaunchMetricError.self) { try document(text) }
        }
        let error = #expect(throws: LaunchMetricError.self) { try document(newer.json) }
        #expect(error?.description.contains("schema 2") == true)
    }

    @Test func invalidAnswersAreErrors() {
        let answer = MadeAnswer().json
        for text in [
            "{}", MadeReport().json, MadeAnswer(verdict: "fine").json, String(answer.dropLast(9)),
        ] {
            #expect(throws: LaunchMetricError.self) { try GateDocument(Data(text.utf8)) }
        }
    }

    /// Numbers that no launch has.
    @Test func extremes() throws {
        let found = try document(MadeReport(median: 1_000_000_000_000).json)
        #expect(found.figures?.wall.median != nil)
        #expect(Duration.time(1e30) == .nanoseconds(9_000_000_000_000_000_000))
        #expect(Duration.time(.nan) == .zero)
        #expect(interval(2, 1) { $0 } == nil)
        #expect(interval(nil, 1) { $0 } == nil)
        #expect(interval(1, .nan) { $0 } == nil)
    }
}
