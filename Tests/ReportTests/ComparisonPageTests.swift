import Analysis
import Foundation
import MadeRecordings
import ProfileModel
import Testing

@testable import Report

/// The page of a comparison, and its data.
@Suite struct ComparisonPageTests {
    private let comparison = ProfileComparison(
        before: Profile(StarSearcher.recordingWithFacts()),
        after: Profile(MendedStarSearcher.recording()))

    private let plain = ProfileComparison(
        before: Profile(StarSearcher.recording()), after: Profile(MendedStarSearcher.recording()))

    private func page(_ comparison: ProfileComparison) -> String {
        // Without compression the packed data can be read here.
        String(decoding: ComparisonPage.html(of: comparison) { $0 }, as: UTF8.self)
    }

    private func decoded(_ comparison: ProfileComparison) throws -> Data.Comparison {
        let bytes = ComparisonPageData(comparison).render()
        return try JSONDecoder().decode(Data.Comparison.self, from: Foundation.Data(bytes))
    }

    private enum Data {
        struct Comparison: Decodable {
            var title: String
            var summaries: [String]
            var shown: [String]
            var wall: [Int64]
            var cpu: [Int64]
            var blocked: [Int64]
            var leastChange: Int64
            var functions: Functions
            var launches: [Launch]
            var phases: [Phase]
            var waits: [Wait]
            var initializers: [Initializer]
            var libraries: [Library]
            var findings: [Finding]
            var notes: [String]
        }
        struct Functions: Decodable {
            var name: [String]
            var module: [String]
            var own: [Int]
        }
        struct Launch: Decodable {
            var wall: Int64
            var phases: [LaunchPhase]
            var threads: [Thread]
        }
        struct LaunchPhase: Decodable {
            var name: String
            var start: Int64
            var wall: Int64
        }
        struct Thread: Decodable {
            var name: String
            var runs: Runs
        }
        struct Runs: Decodable {
            var gap: [Int64]
            var length: [Int64]
            var state: [Int]
        }
        struct Phase: Decodable {
            var name: String
            var seen: Int
            var wall: [Int64]
            var cpu: [Int64]
            var blocked: [Int64]
            var main: Costs
            var nodes: Nodes
            var changes: [Change]
            var functions: [Function]
        }
        struct Costs: Decodable {
            var wall: [Int64]
            var cpu: [Int64]
            var blocked: [Int64]
        }
        struct Nodes: Decodable {
            var caller: [Int]
            var function: [Int]
            var seen: [Int]
            var wall: [[Int64]]
            var cpu: [[Int64]]
            var blocked: [[Int64]]
        }
        struct Change: Decodable {
            var node: Int
            var kind: String
            var caller: Int
            var place: String
            var wall: [Int64]
        }
        struct Function: Decodable {
            var function: Int
            var own: [Int64]
        }
        struct Wait: Decodable {
            var reason: String
            var function: Int
            var count: [Int64]
            var duration: [Int64]
        }
        struct Initializer: Decodable {
            var function: Int
            var seen: Int
            var wall: [Int64]
        }
        struct Library: Decodable {
            var name: String
            var seen: Int
            var wall: [Int64]
        }
        struct Finding: Decodable {
            var status: String
            var saving: [Int64]
            var title: String
            var advice: String
        }
    }

    // MARK: The page

    @Test func noPlaceIsLeftOpen() {
        let page = page(comparison)
        for place in PageBundle.comparison.skeleton.split(separator: "\n")
        where place.hasPrefix("@") {
            #expect(!page.contains("\n\(place)\n"), "\(place)")
        }
        #expect(page.hasSuffix("</html>\n"))
    }

    @Test func nothingIsLoaded() {
        let page = page(comparison)
        for attribute in ["src=", "href=", "@import", "url("] {
            #expect(!page.contains(attribute), "\(attribute)")
        }
        #expect(page.contains("default-src 'none'"))
        #expect(!page.contains("unsafe-"))
    }

    @Test func modulesAreOneScript() {
        let script = String(decoding: PageBundle.comparison.script, as: UTF8.self)
        for line in script.split(separator: "\n") {
            #expect(!line.hasPrefix("import ") && !line.hasPrefix("export "), "\(line)")
        }
        // It would end the script.
        #expect(!script.contains("</"))
    }

    @Test func theTitleSaysWhatChanged() {
        let title =
            "StarSearcher → StarSearcher-mended: 2.512 s before, 400.0 ms after, "
            + "2.112 s faster (-84.1 %)"
        #expect(ComparisonPage.title(of: plain) == title)
        #expect(page(plain).contains("<title>\(title) – Firstlight</title>"))
    }

    /// One name is enough for two launches of one program.
    @Test func theTitleOfOneProgram() {
        let profile = plain.profiles.before
        let title = ComparisonPage.title(of: ProfileComparison(before: profile, after: profile))
        #expect(title == "StarSearcher: 2.512 s before, 2.512 s after, no difference")
    }

    /// Parts that show a single launch of several are marked so.
    @Test func ofSeveralLaunchesTheMeansAreTold() throws {
        let (before, after) = (plain.profiles.before, plain.profiles.after)
        let several = ProfileComparison(
            first: plain.profiles, others: Compared(before: [before, before], after: [after]))
        let data = try decoded(several)
        #expect(data.summaries[0].hasPrefix("3 launches of 2.51 s on average · the first: "))
        #expect(data.summaries[1].hasPrefix("2 launches of 400.0 ms on average · the first: "))
        #expect(
            data.shown == [
                "StarSearcher, the first of 3 launches",
                "StarSearcher-mended, the first of 2 launches",
            ])
        #expect(data.title.hasSuffix("2.112 s faster (-84.1 %): -2.11 s to -2.11 s with 95 %"))
        // One of the later launches is as slow as the earlier ones.
        let unsure = ProfileComparison(
            first: plain.profiles, others: Compared(before: [before], after: [before]))
        let title = ComparisonPage.title(of: unsure)
        #expect(title.contains("no certain difference: on average 1.056 s"))
        #expect(try decoded(plain).shown == ["StarSearcher", "StarSearcher-mended"])
    }

    @Test func theTextIsForThoseWithoutScripts() throws {
        let page = page(comparison)
        let from = try #require(page.firstRange(of: "<noscript>")?.upperBound)
        let to = try #require(page[from...].firstRange(of: "</noscript>")?.lowerBound)
        #expect(page[from..<to].contains("SuperfastLogger::warmUp() (gone)"))
    }

    @Test func dataIsCompressedAndInBase64() {
        var given: [UInt8] = []
        let page = ComparisonPage.html(of: comparison) { bytes in
            given = bytes
            return [1, 2, 3, 255]
        }
        #expect(given == ComparisonPageData(comparison).render())
        #expect(String(decoding: page, as: UTF8.self).contains("\nAQID/w==\n"))
    }

    // MARK: The data

    @Test func figuresAreTheComparisons() throws {
        let data = try decoded(comparison)
        func times(_ compared: Compared<TimeSpan>) -> [Int64] {
            [compared.before.nanoseconds, compared.after.nanoseconds]
        }
        #expect(data.wall == times(comparison.wall))
        #expect(data.cpu == times(comparison.cpu))
        #expect(data.blocked == times(comparison.blocked))
        #expect(data.leastChange == comparison.leastChange.nanoseconds)
        #expect(data.phases.map(\.name) == comparison.phases.map(\.name))
        for (phase, expected) in zip(data.phases, comparison.phases) {
            #expect(phase.wall == times(expected.wall))
            #expect(phase.cpu == times(expected.cpu))
            #expect(phase.blocked == times(expected.blocked))
            #expect(phase.main.wall == phase.wall)
            #expect(phase.main.blocked == phase.blocked)
        }
        #expect(data.notes == ComparisonNotes(comparison: comparison).texts)
    }

    @Test func nodesAreTheTrees() throws {
        for (phase, expected) in zip(try decoded(comparison).phases, comparison.phases) {
            let (nodes, tree) = (phase.nodes, expected.topDown.nodes)
            #expect(nodes.function == tree.map { Int($0.function.rawValue) })
            #expect(nodes.wall[0] == tree.map { $0.own.before.wall.nanoseconds })
            #expect(nodes.wall[1] == tree.map { $0.own.after.wall.nanoseconds })
            #expect(nodes.cpu[0] == tree.map { $0.own.before.cpu.nanoseconds })
            #expect(nodes.blocked[1] == tree.map { $0.own.after.blocked.nanoseconds })
            let parents = nodes.caller.enumerated().map { $1 > 0 ? $0 - $1 : nil }
            #expect(parents == tree.map(\.parent))
            // Own times add up to the phase, as the page adds them.
            for side in 0..<2 as Range<Int> {
                #expect(nodes.wall[side].reduce(0, +) == phase.wall[side], "\(phase.name)")
            }
        }
    }

    @Test func removedFunctionsAreMarked() throws {
        let data = try decoded(plain)
        let main = try #require(data.phases.first { $0.name == "Main" })
        let prewarm = try #require(
            main.nodes.function.firstIndex {
                data.functions.name[$0].hasPrefix("DetailView::prewarm")
            })
        #expect(main.nodes.seen[prewarm] == 1)
        #expect(main.changes.contains { $0.kind == "gone" && $0.wall[1] == 0 })
        #expect(main.changes.allSatisfy { main.nodes.function.indices.contains($0.node) })
        // Process creation and the like are in both.
        #expect(data.phases.allSatisfy { $0.seen == 3 })
    }

    @Test func timelinesAreBothLaunches() throws {
        let data = try decoded(comparison)
        let profiles = [comparison.profiles.before, comparison.profiles.after]
        #expect(data.launches.count == 2)
        for (launch, profile) in zip(data.launches, profiles) {
            #expect(launch.wall == profile.launch.wall.nanoseconds)
            #expect(launch.phases.map(\.wall) == profile.phases.map(\.wall.nanoseconds))
            #expect(launch.threads.map(\.name) == profile.threads.map(\.name))
            let lengths = profile.timelines().map { $0.map(\.length.nanoseconds) }
            #expect(launch.threads.map(\.runs.length) == lengths)
        }
    }

    /// The facts for which the text report has a line.
    @Test func factsAreThoseThatChanged() throws {
        let data = try decoded(comparison)
        #expect(data.waits.count == comparison.changedWaits.count && !data.waits.isEmpty)
        #expect(data.initializers.map(\.seen).contains(1))
        #expect(data.findings.map(\.status) == comparison.findings.map(\.status.rawValue))
        #expect(data.findings.allSatisfy { !$0.title.isEmpty })
    }

    @Test func nothingChanged() throws {
        let profile = Profile(StarSearcher.recordingWithFacts())
        let data = try decoded(ProfileComparison(before: profile, after: profile))
        #expect(data.phases.allSatisfy { $0.changes.isEmpty && $0.functions.isEmpty })
        #expect(data.waits.isEmpty && data.initializers.isEmpty && data.libraries.isEmpty)
    }

    @Test func anEmptyRecordingMakesAPage() {
        let empty = Profile(RecordingBuilder(images: []).recording)
        #expect(page(ProfileComparison(before: empty, after: empty)).contains("</html>"))
    }

    @Test func theSameBytesEachTime() {
        #expect(page(comparison) == page(comparison))
    }

    // MARK: Hostile names

    private static let hostile = [
        "</script><img src=x onerror=alert(1)>", "<!--<script>", "@SCRIPT@", "a\n@DATA@\nb",
        "\u{202e}evil\u{2066}", "\u{1b}]0;owned\u{7}", String(repeating: "template<", count: 3_000),
    ]

    @Test(arguments: hostile) func namesStandInNoMarkup(name: String) throws {
        let page = page(
            ProfileComparison(
                before: Profile(hostileLaunch(name, 40)), after: Profile(hostileLaunch(name, 90))))
        #expect(!page.contains("<img") && !page.contains("<!--"))
        // One script with the data, one that reads it.
        #expect(page.split(separator: "<script").count == 3)
        #expect(page.components(separatedBy: "</script>").count == 3)
        for scalar in page.unicodeScalars {
            let isHidden = scalar.value < 32 && scalar != "\n" || scalar == "\u{202e}"
            #expect(!isHidden && scalar != "\u{2066}")
        }
    }

    private func hostileLaunch(_ name: String, _ milliseconds: Int64) -> Recording {
        let file = name.filter { $0 != "/" }
        var builder = RecordingBuilder(attached: true, images: [("/home/" + file, 0)])
        builder.border(.attached, 0)
        builder.border(.ended, 100 + milliseconds)
        let main = builder.thread(name, tid: 7, to: 100 + milliseconds, isMain: true)
        let spot = RecordingBuilder.Spot(name, "/home/" + file, file: file, line: 1)
        builder.slice(main, at: 0, running: 100 + milliseconds, builder.stack([spot]))
        builder.interval(name, "launch", main, from: 5, to: 90 + milliseconds)
        builder.initializer(spot, main, from: 1, to: 1 + milliseconds, cpu: milliseconds)
        return builder.recording
    }
}
