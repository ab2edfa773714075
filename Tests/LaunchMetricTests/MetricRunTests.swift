import Foundation
import Testing

@testable import LaunchMetric

@Suite struct MetricRunTests {
    @Test func figures() async throws {
        let made = try MadeTool([MadeReport()])
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
        let made = try MadeTool([MadeReport(change: (0, -1, 1))])
        let run = try made.run(
            .command(["/opt/old", "it's"]), launches: 7,
            end: .any(of: .ready, .idle(for: .seconds(1))),
            coldness: .cold, options: ["--network", "3G"])
        _ = try await run.measure(saveTo: "/kept")
        #expect(
            made.asked == [
                [
                    "measure", "--format", "json", "-o", "/kept", "-n", "7", "--until", "notify",
                    "--until", "idle:1000000000ns", "--cold", "--against",
                    #"'/opt/old' 'it'\''s'"#, "--network", "3G", "--", "/opt/new", "-x", "a b",
                ]
            ])
    }

    /// A measurement that is not kept leaves nothing behind.
    @Test func nothingIsLeft() async throws {
        let made = try MadeTool([MadeReport()])
        _ = try await made.run().measure(saveTo: nil)
        let words = try #require(made.asked.first)
        let place = try #require(words.firstIndex(of: "-o")) + 1
        #expect(words[place].hasSuffix("/launches.firstlight"))
        let folder = (words[place] as NSString).deletingLastPathComponent
        #expect(!FileManager.default.fileExists(atPath: folder))
        #expect(words.contains("--warm") && !words.contains("--until"))
    }

    @Test(arguments: [
        // Slower by 2.1 to 8 %: not surely more than 3 %.
        ((5.0, 2.1, 8.0), LaunchVerdict.Outcome.inconclusive),
        ((1.0, -1.0, 2.9), .passed), ((-20.0, -30.0, -10.0), .passed),
        ((1.0, -50.0, 50.0), .inconclusive),
    ])
    func byTurns(change: (Double, Double, Double), outcome: LaunchVerdict.Outcome) async throws {
        let made = try MadeTool([MadeReport(change: change)])
        let found = try await made.run(.command(["/opt/old"])).measure(saveTo: nil)
        #expect(found.verdict?.outcome == outcome)
        #expect(made.asked.count == 1)
        #expect(try #require(found.verdict?.change) * 100 - change.0 < 0.001)
    }

    @Test func slowerTwice() async throws {
        let made = try MadeTool([
            MadeReport(change: (10, 5, 15)), MadeReport(change: (9, 4, 14)),
        ])
        let found = try await made.run(.command(["/opt/old", "-y"])).measure(saveTo: nil)
        #expect(made.asked.count == 2)
        let verdict = try #require(found.verdict)
        #expect(verdict.outcome == .failed)
        #expect(
            verdict.sentence
                == "app -x launches slower than old -y, by more than the 3 % that are allowed: "
                + "+10.0 % (+5.0 % to +15.0 %), +10.00 ms by 10 pairs of launches")
        #expect(verdict.bounds == 0.05...0.15)
        #expect(verdict.difference == .milliseconds(10))
    }

    /// Folders are named if nothing else differs.
    @Test func names() {
        for (new, old, names) in [
            (["/b/app", "--slow"], ["/b/app"], ("app --slow", "app")),
            (["/b/new"], ["/b/old", "-q"], ("new", "old -q")),
            (["/b/app", "-q"], ["/c/app", "-q"], ("/b/app -q", "/c/app -q")),
            (["app"], ["/c/app"], ("app", "/c/app")), ([], ["/"], ("", "/")),
        ] {
            let found = ComparedNames(new, against: old)
            #expect(found == ComparedNames(program: names.0, baseline: names.1))
        }
    }

    /// One block is no reason to fail a test.
    @Test func slowerOnce() async throws {
        let made = try MadeTool([
            MadeReport(change: (10, 5, 15)), MadeReport(change: (1, -2, 4)),
        ])
        let found = try await made.run(.command(["/opt/old"])).measure(saveTo: nil)
        #expect(found.verdict?.outcome == .inconclusive)
        #expect(
            found.verdict?.sentence.contains("a second block of launches does not agree") == true)
        // A block that cannot be compared does not agree, either.
        let silent = try MadeTool([MadeReport(change: (10, 5, 15)), MadeReport()])
        let unknown = try await silent.run(.command(["/opt/old"])).measure(saveTo: nil)
        #expect(unknown.verdict?.outcome == .inconclusive)
    }

    /// A change of less than 2 ms does not matter.
    @Test func slowerByLittle() async throws {
        let made = try MadeTool([MadeReport(median: 10, change: (15, 10, 19))])
        let found = try await made.run(.command(["/opt/old"])).measure(saveTo: nil)
        #expect(found.verdict?.outcome == .passed)
        let more = try MadeTool([MadeReport(median: 10, change: (25, 10, 40))])
        let unsure = try await more.run(.command(["/opt/old"])).measure(saveTo: nil)
        #expect(unsure.verdict?.outcome == .inconclusive)
    }

    @Test func tooFewPairs() async throws {
        let made = try MadeTool([MadeReport(change: (50, 40, 60), confidence: 0.9)])
        let found = try await made.run(.command(["/opt/old"])).measure(saveTo: nil)
        #expect(found.verdict?.outcome == .inconclusive)
        #expect(found.verdict?.sentence.hasSuffix("at least 7 pairs are needed") == true)
        let none = try MadeTool([MadeReport()])
        let nothing = try await none.run(.command(["/opt/old"])).measure(saveTo: nil)
        #expect(nothing.verdict?.sentence.hasSuffix("too few launches count") == true)
    }

    @Test func refusals() throws {
        let made = try MadeTool([MadeReport()])
        for launches in [0, -1, 100_001] {
            #expect(throws: LaunchMetricError.self) { try made.run(launches: launches) }
        }
        for share in [-0.01, .nan, .infinity] {
            #expect(throws: LaunchMetricError.self) { try made.run(maxRegression: share) }
        }
        for words in [[], [""]] {
            #expect(throws: LaunchMetricError.self) { try made.run(.command(words)) }
        }
    }

    @Test func failures() async throws {
        let made = try MadeTool([MadeReport()], status: 127, complaint: "cannot run x")
        await #expect(throws: LaunchMetricError.failed(status: 127, message: "cannot run x")) {
            try await made.run().measure(saveTo: nil)
        }
        let silent = try MadeTool([MadeReport()], status: 3)
        let error = await #expect(throws: LaunchMetricError.self) {
            try await silent.run().measure(saveTo: nil)
        }
        #expect(error?.description == "firstlight ended with status 3")
        let empty = try MadeTool([MadeReport(counted: 0)])
        await #expect(
            throws: LaunchMetricError.unreadable("firstlight reported no launch that counts")
        ) { try await empty.run().measure(saveTo: nil) }
    }
}

@Suite struct StoredBaselineTests {
    private func measured(
        _ stored: MadeReport, _ new: [MadeReport], program: String = "/opt/new"
    ) async throws -> (LaunchVerdict?, [[String]]) {
        let made = try MadeTool([stored] + new)
        let found = try await made.run(.file("-kept"), program: program).measure(saveTo: nil)
        return (found.verdict, made.asked)
    }

    /// The program is there, and as it was: it is launched in turns.
    @Test func ofAProgramThatIsThere() async throws {
        let stored = MadeReport(path: "/bin/sh")
        let (verdict, asked) = try await measured(stored, [MadeReport(change: (0, -1, 1))])
        #expect(asked[0] == ["report", "--format", "json", "--", "-kept"])
        #expect(asked[1].contains("'/bin/sh' '-x'"))
        #expect(verdict?.outcome == .passed)
        #expect(verdict?.sentence.contains("no slower than sh -x") == true)
    }

    /// Changed since, or the very one that is measured.
    @Test func ofAProgramThatIsGone() async throws {
        let changed = MadeReport(path: "/bin/sh", date: 1)
        let (first, asked) = try await measured(changed, [MadeReport()])
        #expect(asked.allSatisfy { !$0.contains("--against") })
        #expect(first?.outcome == .passed)
        let same = MadeReport(path: "/bin/sh")
        let (_, others) = try await measured(same, [MadeReport()], program: "sh")
        #expect(others.allSatisfy { !$0.contains("--against") })
    }

    @Test func byItsFigures() async throws {
        let stored = MadeReport()
        let (slower, asked) = try await measured(stored, [MadeReport(median: 110)])
        // 109 against 101, twice.
        #expect(slower?.outcome == .failed)
        #expect(asked.count == 3)
        #expect(slower?.sentence.contains("slower than -kept") == true)
        let (once, _) = try await measured(
            stored, [MadeReport(median: 110), MadeReport(median: 100)])
        #expect(once?.outcome == .inconclusive)
        let (unsure, _) = try await measured(stored, [MadeReport(median: 104)])
        #expect(unsure?.outcome == .inconclusive)
        let (few, _) = try await measured(stored, [MadeReport(median: 200, margin: nil)])
        #expect(few?.outcome == .inconclusive)
        #expect(few?.sentence.contains("too few launches") == true)
    }

    @Test func ofAnotherMachineOrBoot() async throws {
        for (stored, words) in [
            (MadeReport(host: "there"), "another machine (there)"),
            (MadeReport(kernel: "5.4"), "another kernel (5.4)"),
            (MadeReport(boot: "boot-0"), "has restarted"), (MadeReport(boot: nil), "has restarted"),
        ] {
            let (verdict, _) = try await measured(stored, [MadeReport(median: 900)])
            #expect(verdict?.outcome == .inconclusive)
            #expect(verdict?.sentence.contains(words) == true)
        }
    }

    @Test func underOtherConditions() async throws {
        for stored in [
            MadeReport(cache: "cold"), MadeReport(network: "3G"), MadeReport(until: ["notify"]),
            MadeReport(path: "/bin/sh", cache: "cold"), MadeReport(dropped: "all"),
        ] {
            await #expect(throws: LaunchMetricError.self) {
                try await measured(stored, [MadeReport()])
            }
        }
        // The program's end need not be named.
        _ = try await measured(MadeReport(until: ["exit"]), [MadeReport()])
    }
}

@Suite struct DocumentTests {
    private func document(_ text: String) throws -> MeasurementDocument {
        try MeasurementDocument(Data(text.utf8))
    }

    @Test func whatIsNone() throws {
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
