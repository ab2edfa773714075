import Analysis
import MadeRecordings
import ProfileModel
import Report
import Testing

/// The critical path as text, byte for byte.
@Suite struct CriticalPathTextTests {
    private func text(_ recording: Recording, _ change: (inout TextOptions) -> Void) -> String {
        var options = TextOptions()
        options.width = 110
        change(&options)
        return TextReport.render(Profile(recording), view: .criticalPath, options: options)
    }

    @Test func withWakeUps() throws {
        let text = text(StarSearcher.recordingWithSchedule()) { _ in }
        try expectSnapshot(text, "critical-path.txt")
    }

    @Test func inLittleRoom() throws {
        let text = text(StarSearcher.recordingWithSchedule()) { $0.width = 60 }
        try expectSnapshot(text, "critical-path-60.txt")
    }

    /// Without them it is the main thread's, and says so.
    @Test func withoutWakeUps() throws {
        let text = text(StarSearcher.recording()) { $0.minDuration = .milliseconds(500) }
        try expectSnapshot(text, "critical-path-main.txt")
    }

    /// A stretch of seconds comes before hundreds of milliseconds, and its reason is never cut off.
    @Test func theLongestComeFirst() throws {
        var builder = RecordingBuilder(attached: true)
        builder.border(.attached, 0)
        builder.border(.ended, 1000)
        let main = builder.thread("a-long-name-here", tid: 1_234_567, to: 1000, isMain: true)
        for start in stride(from: 0, to: 400, by: 4) as StrideTo<Int64> {
            builder.slice(main, at: start, running: 2, builder.stack("main", "first"))
            builder.slice(
                main, at: start + 2, blocked: 2, builder.stack("main", "first", "read"), call: 0)
            builder.wait(
                main, from: start + 2, to: start + 4, WaitReason(.file, detail: "/etc/x"),
                builder.stack("main", "first", "read"))
        }
        builder.slice(main, at: 400, running: 600, builder.stack("main", "second"))
        let text = text(builder.recording) { $0.width = 100 }
        let lines = text.split(separator: "\n").map(String.init)
        let longest = try #require(lines.firstIndex { $0.hasPrefix("  LONGEST") })
        #expect(lines[longest + 1].contains("second") && lines[longest + 1].contains("60.0 %"))
        // With one thread, its name is not repeated on each line.
        #expect(!text.contains("a-long"))
        #expect(lines.count < 20)
        #expect(lines.allSatisfy { $0.count <= 100 })
        let fine = self.text(builder.recording) { $0.minDuration = .milliseconds(1) }
        #expect(fine.split(separator: "\n").count > 150)
        #expect(fine.contains("  blocked (file)  "))
    }

    @Test func noMoreLinesThanAskedFor() {
        let text = text(StarSearcher.recordingWithSchedule()) { $0.depth = 2 }
        #expect(text.hasSuffix("  … 2 more\n"))
    }
}
