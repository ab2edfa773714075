import Analysis
import Exports
import MadeRecordings
import ProfileModel
import Report
import Testing

@Suite struct FactTextTests {
    private func text(
        _ recording: Recording, _ view: View = .full,
        _ change: (inout TextOptions) -> Void = { _ in }
    ) -> String {
        var options = TextOptions()
        change(&options)
        return TextReport.render(Profile(recording), view: view, options: options)
    }

    @Test func nothingSeenIsSaidRatherThanShownAsNothing() {
        let recording = StarSearcher.recording()
        #expect(text(recording, .libraries).contains("no libraries were seen here"))
        #expect(text(recording, .initializers).contains("no initialisers were seen here"))
        #expect(text(recording, .intervals).contains("no intervals or events here"))
    }

    @Test func readinessIsInTheFirstLine() {
        let report = text(StarSearcher.recordingWithFacts()) { $0.width = 200 }
        #expect(
            report.hasPrefix(
                "StarSearcher --catalogue bright stars · ready after 2.054 s (signpost:first star drawn) · "
                    + "recorded for 2.400 s · CPU "))
        #expect(report.contains("Extended"))
    }

    @Test func viewsKeepToTheSelection() throws {
        let recording = StarSearcher.recordingWithFacts()
        let profile = Profile(recording)
        func view(_ view: View, _ selection: Selection) -> String {
            text(recording, view) { $0.selection = selection }
        }
        let main = try profile.selection(phase: "Main")
        let initialisers = try profile.selection(phase: "Static")
        #expect(view(.libraries, main).contains("libthemes"))
        #expect(!view(.libraries, main).contains("libm.so"))
        #expect(!view(.initializers, main).contains("warmUp"))
        #expect(view(.initializers, main).contains("registerThemes"))
        #expect(!view(.initializers, initialisers).contains("registerThemes"))
        let worker = try profile.selection(thread: "4242")
        #expect(view(.intervals, worker).contains("read stars"))
        #expect(!view(.intervals, worker).contains("prewarm"))
        let reading = try profile.selection(interval: "read stars")
        #expect(view(.intervals, reading).contains("Load catalogue"))
        #expect(!view(.intervals, reading).contains("Thumbnails"))
    }

    @Test func selectedIntervalIsNamed() throws {
        let recording = StarSearcher.recordingWithFacts()
        let selection = try Profile(recording).selection(thread: "4242", interval: "prewarm")
        let report = text(recording, .tree) { $0.selection = selection }
        #expect(report.contains("  only interval prewarm · thread star loader (4242)\n"))
    }

    @Test func manyIntervalsAreCut() {
        var builder = RecordingBuilder(attached: true)
        builder.border(.attached, 0)
        builder.border(.ended, 1000)
        for index in 0..<300 as Range<Int64> {
            builder.interval("step \(index % 30)", from: index, to: index + 1)
        }
        let report = text(builder.recording, .intervals)
        #expect(report.contains("… 100 more (--depth N shows N)"))
        #expect(text(builder.recording, .intervals) { $0.depth = 3 }.contains("… 297 more"))
        let summary = text(builder.recording)
        #expect(summary.contains("step 3 ×10") && !summary.contains("step 12 "))
        #expect(summary.contains("… 18 more: report --view intervals"))
    }

    @Test(arguments: [View.full, .libraries, .initializers, .intervals])
    func hostileNamesReachNoTerminal(view: View) throws {
        let hostile = "\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}x\r\ny\u{2066}"
        var builder = RecordingBuilder(attached: true)
        builder.border(.attached, 0)
        builder.border(.ended, 1000)
        let main = builder.thread(hostile, tid: 7, to: 1000, isMain: true)
        let spot = RecordingBuilder.Spot(hostile, "/home/" + hostile, file: hostile, line: 1)
        builder.slice(main, at: 0, running: 999, builder.stack([spot]))
        builder.initializer(spot, main, from: 100, to: 400, cpu: 5, isComplete: false)
        builder.interval(hostile, hostile, main, from: 5, to: 900, isComplete: false)
        builder.recording.intervals[0].subsystem = hostile
        builder.event(hostile, hostile, main, at: 6)
        builder.interval(hostile, "launch", main, from: 5, to: 900)
        builder.ready(hostile, at: 950)
        for caller in [nil, builder.stack([spot])] {
            builder.recording.libraries.append(
                LibraryLoad(
                    path: "/home/" + hostile, start: RecordingBuilder.at(1), size: 1,
                    requestedBy: caller == nil ? hostile : nil, caller: caller,
                    isInitial: caller == nil))
        }
        let selection = try Profile(builder.recording).selection(interval: hostile)
        let report = text(builder.recording, view) {
            $0.selection = selection
            $0.width = 300
        }
        #expect(report.contains("\\u{1b}]0;owned"))
        for line in report.split(separator: "\n") {
            #expect(String(line).escapedForDisplay == line)
        }
    }

    @Test(arguments: [60, 80, 131], [View.full, .libraries, .initializers, .intervals])
    func keepsToTheWidth(width: Int, view: View) {
        let recording = StarSearcher.recordingWithFacts()
        for line in text(recording, view, { $0.width = width }).split(separator: "\n") {
            #expect(String(line).displayWidth <= width, "\(line)")
            #expect(line.last != " ", "\(line)")
        }
    }
}
