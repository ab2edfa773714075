import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// `firstlight compare` of the demonstration and its fixed variant.
    @Suite struct Comparisons {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func record(_ variant: String) throws -> String {
            let path = scratch(variant)
            let command = try Firstlight.recording([try Setup.star(variant)], to: path)
            let finished = try command.run()
            #expect(finished.status == 0, "\(finished.error)")
            return path
        }

        private func findings(_ path: String) throws -> [String] {
            try Recorded(path: path, finished: Finished(end: .exited(0), output: "", error: ""))
                .json().findings.map { String($0.title.prefix { $0 != "(" }) }
        }

        private struct Times: Decodable {
            var before: Int64
            var after: Int64
            var difference: Int64
        }
        private struct Change: Decodable {
            var kind: String
            var function: String
            var wallNs: Times
            var blockedNs: Times
        }
        private struct Node: Decodable {
            var selfWallNs: Times
        }
        private struct Initializer: Decodable {
            var function: String
            var wallNs: Times
        }
        private struct Phase: Decodable {
            var name: String
            var wallNs: Times
            var changes: [Change]
            var topDown: [Node]
            var bottomUp: [Node]
        }
        private struct Report: Decodable {
            var wallNs: Times
            var phases: [Phase]
            var initializers: [Initializer]
        }

        /// The comparison shows where each saving came from, and accounts for all of the
        /// difference.
        @Test func theThreeSavings() throws {
            let files = [try record("starsearcher"), try record("starsearcher-mended")]
            let text = try Firstlight.command(["compare"] + files + ["--format", "json"]).run()
            #expect(text.status == 0 && text.error == "")
            let report = try JSONDecoder().decode(Report.self, from: Data(text.output.utf8))
            expectSums(report)

            let changes = report.phases.flatMap { phase in phase.changes.map { (phase, $0) } }
            let saved = changes.filter { $0.1.wallNs.difference < 0 }.map { phase, change in
                "\(phase.name): \(change.function)"
            }
            let wanted = [
                "Static initialisers: global constructors keyed to logger.cpp",
                "Main: StarCatalogue::loadStars", "Main: FrameBuilder::prewarmDetailViews",
            ]
            for saving in wanted {
                #expect(saved.contains { $0.hasPrefix(saving) }, "\(saved)")
            }
            // The wait is distinguished from work.
            let wait = changes.first { $0.1.function.hasPrefix("StarCatalogue::loadStars") }?.1
            #expect(wait.map { $0.blockedNs.difference < 0 } == true)
            // The initialiser is the one that was sampled.
            let logger = report.initializers.first
            #expect(logger?.function.hasSuffix("logger.cpp") == true)
            #expect(changes.contains { $0.1.function == logger?.function })
        }

        private func expectSums(_ report: Report) {
            #expect(
                report.phases.reduce(0) { $0 + $1.wallNs.difference } == report.wallNs.difference)
            for phase in report.phases {
                for nodes in [phase.topDown, phase.bottomUp] {
                    #expect(
                        nodes.reduce(0) { $0 + $1.selfWallNs.difference }
                            == phase.wallNs.difference)
                }
            }
        }

        @Test func theTextNamesThem() throws {
            let files = [try record("starsearcher"), try record("starsearcher-mended")]
            let text = try Firstlight.command(["compare"] + files, adding: ["COLUMNS": "1000"])
                .run()
            #expect(text.status == 0 && text.error == "")
            for name in [
                "global constructors keyed to logger.cpp (gone)", "StarCatalogue::loadStars",
                "FrameBuilder::prewarmDetailViews",
            ] {
                #expect(text.output.contains(name), "\(text.output)")
            }
            // Which findings there are depends on what else the machine does.
            let gone = text.output.split(separator: "\n").filter { $0.hasPrefix("  gone ") }
            let (before, after) = (try findings(files[0]), try findings(files[1]))
            #expect(!before.isEmpty)
            for title in before where !after.contains(title) {
                #expect(gone.contains { $0.contains(title) }, "\(title): \(text.output)")
            }
            #expect(gone.allSatisfy { line in before.contains { line.contains($0) } }, "\(gone)")
        }

        /// The page without its scripts, which can be tested without a browser.
        @Test func thePageHasTheTextToo() throws {
            let files = [try record("starsearcher"), try record("starsearcher-mended")]
            let page = scratch("difference.html")
            let made = try Firstlight.command(
                ["compare", "--format", "html", "-o", page] + files
            ).run()
            #expect(made.status == 0 && made.output == "" && made.error == "")
            let html = try String(contentsOfFile: page, encoding: .utf8)
            #expect(html.hasPrefix("<!DOCTYPE html>") && html.hasSuffix("</html>\n"))
            #expect(html.contains("<title>starsearcher → starsearcher-mended: "))
            #expect(html.contains("global constructors keyed to logger.cpp (gone)"))
            #expect(html.contains("content=\"default-src 'none'; "))
        }
    }
}
