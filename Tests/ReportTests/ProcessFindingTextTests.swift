import ProfileModel
import Testing

@testable import Analysis
@testable import Report

/// What a launch's other processes did, in sentences.
@Suite struct ProcessFindingTextTests {
    /// A shell that waits for children, each of a name and from and to some milliseconds.
    private static func recording(
        _ children: [(name: String, from: Int64, to: Int64)]
    ) -> Recording {
        var builder = RecordingBuilder(images: [("/bin/sh", 0)])
        builder.mark(.spawned, 0)
        builder.mark(.firstInstruction, 0)
        builder.mark(.main, 1)
        builder.mark(.ended, 1000)
        let main = builder.thread("sh", tid: 100, to: 1000, isMain: true)
        let stack = builder.stack("main", "run")
        builder.slice(main, at: 0, running: 1, blocked: 999, stack)
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
        #expect(words.details.isEmpty && !words.advice.isEmpty)
    }

    @Test func childrenOneAfterTheOther() throws {
        let words = try #require(
            Self.words(
                Self.recording([("one", 100, 200), ("two", 300, 420), ("three", 500, 550)])))
        #expect(words.title == "sh (100) starts one, two, three one after the other")
        #expect(
            words.details == ["each when the one before had ended: 100.0 ms, 120.0 ms, 50.0 ms"])
    }

    /// Who has waited for children and knows nothing of them is told how to see them; for a moment it
    /// is not worth a line, and a tree's process has none that were left out.
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
            "its children were not recorded, for which it waited 200.0 ms: --follow-children shows "
            + "them"
        #expect(notes(200, .signal).contains(hint))
        let others = [
            notes(200, .event), notes(200, .signal, keeps: true), notes(40, .signal),
            notes(200, .signal, isSpared: true),
        ]
        for other in others {
            #expect(!other.contains(": --follow-children shows"))
        }
    }
}
