import MadeRecordings
import ProfileModel
import Testing

@testable import Analysis
@testable import Report

/// The activities of a launch's other processes, in sentences.
@Suite struct ProcessFindingTextTests {
    /// A shell that waits for children, each of a name and from and to some milliseconds.
    private static func recording(
        _ children: [(name: String, from: Int64, to: Int64)]
    ) -> Recording {
        var builder = RecordingBuilder(images: [("/bin/sh", 0)])
        builder.border(.spawned, 0)
        builder.border(.firstInstruction, 0)
        builder.border(.main, 1)
        builder.border(.ended, 1000)
        let main = builder.thread("sh", tid: 100, to: 1000, isMain: true)
        let stack = builder.stack("main", "run")
        builder.slice(main, at: 0, running: 1, stack)
        builder.slice(main, at: 1, blocked: 999, stack)
        for (position, child) in children.enumerated() {
            let pid = Int32(101 + position)
            builder.recording.children.append(
                ChildProcess(
                    pid: pid, parent: 100, parentIndex: nil, name: child.name,
                    start: RecordingBuilder.at(child.from), end: RecordingBuilder.at(child.to),
                    cpu: .milliseconds(1), outcome: .exited(0)))
            builder.wait(
                main, from: child.from, to: child.to,
                WaitReason(.child, detail: child.name, owner: pid), call: 61, stack)
        }
        return builder.recording
    }

    private static func words(_ recording: Recording) -> FindingWords? {
        let profile = Profile(recording)
        return profile.findings().first.map { FindingWords(profile: profile, finding: $0) }
    }

    @Test func processesThatAScriptStarts() throws {
        var children: [(name: String, from: Int64, to: Int64)] = []
        for index in 0..<1200 as Range<Int64> {
            children.append((index == 7 ? "sed" : "expr", index / 2, index / 2 + 1))
        }
        let words = try #require(Self.words(Self.recording(children)))
        #expect(words.title == "sh (100) starts 1,200 processes: 1,199 times expr, sed")
        #expect(words.details == ["1,199 times expr 1.20 s in all, sed 1.0 ms"])
        #expect(words.advice != nil)
    }

    @Test func childrenOneAfterTheOther() throws {
        let words = try #require(
            Self.words(
                Self.recording([("one", 100, 200), ("two", 300, 420), ("three", 500, 550)])))
        #expect(words.title == "sh (100) starts one, two, three one after the other")
        #expect(
            words.details == [
                "each started when the previous one had ended: one 100.0 ms, two 120.0 ms, three 50.0 ms"
            ])
    }

    @Test func aProcessThatNobodyWaitsFor() throws {
        var recording = Self.recording([])
        recording.children = [
            ChildProcess(
                pid: 101, parent: 100, name: "indexer", start: RecordingBuilder.at(10),
                end: RecordingBuilder.at(900), cpu: .milliseconds(40), outcome: .exited(0))
        ]
        let profile = Profile(recording)
        let search = try #require(FindingSearch(profile))
        let windows = TimeWindows([TimeSpan.milliseconds(100)..<(.milliseconds(130))])
        // Nothing is known about the child except that it was there; the words are the same.
        let finding = try #require(
            search.finding(.unawaitedProcess(1), of: 0, in: windows))
        let words = FindingWords(profile: profile, finding: finding)
        #expect(
            words.title
                == "indexer uses the core that the launch waits for, but nothing waits for indexer")
        #expect(words.details == ["it used 40.0 ms of CPU in all; started by sh (100)"])
        #expect(words.advice != nil)
    }

    /// Processes of two launches, in text and JSON.
    @Test func comparedProcesses() throws {
        let comparison = ProfileComparison(
            before: Profile(Self.recording([("sed", 100, 110), ("cc", 200, 300)])),
            after: Profile(
                Self.recording([("cc", 100, 400), ("<b>", 500, 600), ("<b>", 700, 800)])))
        let text = ComparisonReport.text(comparison)
        let lines = text.split(separator: "\n").map(String.init)
        func line(_ name: String) -> [Substring] {
            lines.last { $0.hasPrefix("  \(name) ") }?.split(separator: " ") ?? []
        }
        #expect(text.contains("Processes that were started, and their wall time together"))
        #expect(line("<b>") == ["<b>", "0", "→", "2", "–", "200.0", "ms", "+200.0", "ms"])
        #expect(line("sed") == ["sed", "1", "→", "0", "10.0", "ms", "–", "-10.0", "ms"])
        #expect(line("cc") == ["cc", "1", "100.0", "ms", "300.0", "ms", "+200.0", "ms"])
        let json = ComparisonReport.json(comparison)
        #expect(json.contains("\"processes\""))
        #expect(
            !ComparisonReport.text(
                ProfileComparison(
                    before: Profile(Self.recording([])), after: Profile(Self.recording([])))
            ).contains("Processes"))
    }

    /// A recording that waited for unrecorded children says how to see them. A short wait is not
    /// worth a line, and in a recording of all processes none was left out.
    @Test func childrenThatWereLeftOut() {
        func notes(
            _ milliseconds: Int64, _ capture: CaptureMethod, keeps: Bool = false,
            isSpared: Bool = false
        ) -> String {
            var recording = Self.recording([("git", 100, 100 + milliseconds)])
            recording.header.capture = capture
            if !keeps { recording.children = [] }
            if isSpared { recording.notes = [RecorderNote(.leakSanitizer, 1)] }
            return HeaderSection(profile: Profile(recording), options: TextOptions()).notes
                .joined(separator: "\n")
        }
        let hint =
            "waited 200.0 ms for children, which --follow-children shows"
        #expect(notes(200, .untraced).contains(hint))
        let others = [
            notes(200, .tree), notes(200, .untraced, keeps: true), notes(40, .untraced),
            notes(200, .untraced, isSpared: true),
        ]
        for other in others {
            #expect(!other.contains("--follow-children shows"))
        }
    }
}
