import Analysis
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

    @Test func noMoreLinesThanAskedFor() {
        let text = text(StarSearcher.recordingWithSchedule()) { $0.depth = 2 }
        #expect(text.hasSuffix("  … 2 more\n"))
    }
}
