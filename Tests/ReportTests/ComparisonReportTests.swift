import Analysis
import Exports
import Foundation
import MadeRecordings
import ProfileModel
import Report
import Testing

/// Two recordings compared, as text, JSON, folded stacks and a flame graph.
@Suite struct ComparisonReportTests {
    private let comparison = ProfileComparison(
        before: Profile(StarSearcher.recording()), after: Profile(MendedStarSearcher.recording()))
    private let withFacts = ProfileComparison(
        before: Profile(StarSearcher.recordingWithFacts()),
        after: Profile(MendedStarSearcher.recording()))

    private func text(_ change: (inout TextOptions) -> Void = { _ in }) -> String {
        var options = TextOptions()
        change(&options)
        return ComparisonReport.text(withFacts, options: options)
    }

    // MARK: Text

    @Test func snapshots() throws {
        try expectSnapshot(text(), "comparison.txt")
        try expectSnapshot(text { $0.width = 160 }, "comparison-160.txt")
        try expectSnapshot(text { $0.width = 60 }, "comparison-60.txt")
        try expectSnapshot(text { $0.usesColour = true }, "comparison-colour.txt")
        try expectSnapshot(ComparisonReport.folded(comparison), "comparison.folded")
    }

    /// Several launches of each side: the means, and how sure each change is.
    @Test func severalLaunches() throws {
        let (before, after) = (comparison.profiles.before, comparison.profiles.after)
        let sure = ProfileComparison(
            first: comparison.profiles, others: Compared(before: [before], after: [after, after]))
        try expectSnapshot(ComparisonReport.text(sure), "comparison-several.txt")
        let unsure = ProfileComparison(
            first: comparison.profiles, others: Compared(before: [before], after: [before]))
        try expectSnapshot(ComparisonReport.text(unsure), "comparison-unsure.txt")
    }

    @Test func theOtherWayRound() {
        let back = ProfileComparison(
            before: comparison.profiles.after, after: comparison.profiles.before)
        let report = ComparisonReport.text(back)
        #expect(report.contains("\n2.112 s slower (+528.0 %)\n"))
        #expect(report.contains("SuperfastLogger::warmUp() (new)"))
        // A new finding has its advice.
        #expect(report.contains("→ Do only what the first picture or answer needs"))
    }

    @Test func onePhase() throws {
        let phases = try comparison.phases(named: "static")
        let report = ComparisonReport.text(comparison, phases: phases)
        #expect(report.contains("Static initialisers: what accounts for"))
        #expect(!report.contains("Main"))
    }

    @Test(arguments: [60, 72, 80, 100, 129, 130, 200]) func widths(width: Int) {
        for line in text({ $0.width = width }).split(separator: "\n") {
            #expect(String(line).displayWidth <= width, "\(line)")
        }
    }

    @Test func nothingChanged() {
        let profile = Profile(StarSearcher.recording())
        let report = ComparisonReport.text(ProfileComparison(before: profile, after: profile))
        #expect(report.contains("\nno difference\n"))
        #expect(!report.contains("what accounts for"))
        #expect(report.contains("as before"))
    }

    // MARK: Other formats

    private struct Times: Decodable {
        var before: Int64
        var after: Int64
        var difference: Int64
    }
    private struct Node: Decodable {
        var parent: Int?
        var function: String
        var selfWallNs: Times
        var totalWallNs: Times
    }
    private struct Phase: Decodable {
        var name: String
        var wallNs: Times
        var topDown: [Node]
        var bottomUp: [Node]
    }
    private struct Document: Decodable {
        var schema: Int
        var kind: String
        var wallNs: Times
        var phases: [Phase]
    }

    @Test func jsonAddsUp() throws {
        let json = ComparisonReport.json(comparison)
        #expect(json.hasSuffix("}\n"))
        let document = try JSONDecoder().decode(Document.self, from: Data(json.utf8))
        #expect(document.schema == 1 && document.kind == "comparison")
        #expect(document.wallNs.difference == -2_112_000_000)
        let sum = document.phases.reduce(0) { $0 + $1.wallNs.difference }
        #expect(sum == document.wallNs.difference)
        for phase in document.phases {
            for nodes in [phase.topDown, phase.bottomUp] {
                let own = nodes.reduce(0) { $0 + $1.selfWallNs.difference }
                #expect(own == phase.wallNs.difference, "\(phase.name)")
                #expect(nodes.enumerated().allSatisfy { ($1.parent ?? -1) < $0 })
            }
        }
    }

    @Test func foldedAddsUp() {
        var sums = (Int64(0), Int64(0))
        for line in ComparisonReport.folded(comparison).split(separator: "\n") {
            let words = line.split(separator: " ")
            sums.0 += Int64(words[words.count - 2]) ?? 0
            sums.1 += Int64(words[words.count - 1]) ?? 0
        }
        #expect(sums == (2_512_000, 400_000))
    }

    @Test func flames() throws {
        let svg = ComparisonReport.svg(comparison)
        #expect(svg.contains("StarSearcher → StarSearcher-mended: wall time of the main thread"))
        let box = try #require(
            svg.split(separator: "\n").first { $0.contains("<title>DetailView::prewarm") })
        #expect(box.contains("879.0 ms before, 0.0 ms after, -879.0 ms; itself –"))
        // All of it is gone: the deepest blue.
        #expect(box.contains("fill=\"hsl(215,85%,55%)\""))
        let opened = try #require(
            svg.split(separator: "\n").first { $0.contains("<title>Cache::open") })
        #expect(opened.contains("fill=\"hsl(5,85%,55%)\""))
    }

    // MARK: Hostile names

    @Test func hostileNamesAreEscaped() throws {
        let hostile = "\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}x\r\ny<b>&\"\u{2066};z"
        func launch(_ milliseconds: Int64) -> Profile {
            var builder = RecordingBuilder(attached: true, images: [("/home/" + hostile, 0)])
            builder.border(.attached, 0)
            builder.border(.ended, 100 + milliseconds)
            let main = builder.thread(hostile, tid: 7, to: 100 + milliseconds, isMain: true)
            let spot = RecordingBuilder.Spot(hostile, "/home/" + hostile, file: hostile, line: 1)
            builder.slice(main, at: 0, running: 100 + milliseconds, builder.stack([spot]))
            builder.interval(hostile, "launch", main, from: 5, to: 90 + milliseconds)
            builder.initializer(spot, main, from: 1, to: 1 + milliseconds, cpu: milliseconds)
            builder.wait(
                main, from: 10, to: 10 + milliseconds, WaitReason(.file, detail: hostile), call: 0,
                builder.stack([spot]))
            builder.ready(hostile, at: 60 + milliseconds)
            builder.recording.libraries.append(
                LibraryLoad(
                    path: "/home/\(milliseconds)\(hostile)", start: RecordingBuilder.at(1), size: 1,
                    isInitial: true))
            return Profile(builder.recording)
        }
        let comparison = ProfileComparison(before: launch(10), after: launch(50))
        for report in [
            ComparisonReport.text(comparison), ComparisonReport.json(comparison),
            ComparisonReport.folded(comparison), ComparisonReport.svg(comparison),
        ] {
            #expect(report.contains("owned"))
            let isClean = report.unicodeScalars.allSatisfy { scalar in
                scalar == "\n"
                    || scalar.value >= 0x20 && scalar.properties.generalCategory != .control
                        && scalar.properties.generalCategory != .format
            }
            #expect(isClean)
        }
        #expect(!ComparisonReport.svg(comparison).contains("<b>"))
        for line in ComparisonReport.folded(comparison).split(separator: "\n") {
            #expect(line.wholeMatch(of: #/.* \d+ \d+/#) != nil)
        }
    }
}
