import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// What a report says first, of programs as they are.
    @Suite struct Summary {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func lines(_ text: String) -> Int { text.count(where: \.isNewline) }

        @Test(arguments: [["crowd", "4"], ["family"], ["groundtruth"], ["launcher"], ["static"]])
        func fortyLinesAtMost(words: [String]) throws {
            let program = [try Setup.fixture(words[0])] + words.dropFirst()
            let recorded = try Firstlight.record(
                program, in: scratch, options: ["--quiet", "--follow-children"])
            let text = try recorded.text("report")
            #expect(lines(text) <= 40, "\(text)")
            #expect(text.contains("PHASE") && text.contains("next: firstlight"), "\(text)")
            let full = try recorded.text("report", ["--full"])
            #expect(full == (try recorded.text("report", ["--view", "full"])))
            #expect(
                try recorded.text("report", ["--notes"])
                    == recorded.text("report", ["--view", "notes"]))
            for budget in [1000, 6000] {
                let words = [
                    "report", "--format", "markdown", "--budget", "\(budget)", recorded.path,
                ]
                let markdown = try Firstlight.command(words).run()
                #expect(markdown.status == 0 && markdown.output.utf8.count <= budget)
                #expect(markdown.output.hasPrefix("# "))
            }
        }

        /// Text, Markdown and JSON have the same findings with the same times.
        @Test func allFormatsSayTheSame() throws {
            let spin = try Setup.fixture("spin")
            let script = "i=0; while [ $i -lt 12 ]; do /bin/true; i=$((i+1)); done; \(spin)"
            let recorded = try Firstlight.record(
                ["sh", "-c", script], in: scratch, options: ["--quiet", "--follow-children"])
            let report = try recorded.json()
            // The one that computes, not the number of the others.
            let first = try #require(report.findings.first)
            #expect(first.kind == "dominant-process")
            #expect(first.title.contains("the launch waits for spin"))
            let text = try recorded.text("report")
            let markdown = try recorded.text("report", ["--format", "markdown"])
            let words = first.title.split(separator: " in ")[0]
            for said in [text, markdown] {
                #expect(said.replacing(#/\n +/#, with: " ").contains(words), "\(words)\n\(said)")
            }
        }

        @Test(arguments: [
            ["--full", "--notes"], ["--full", "--view", "tree"], ["--budget", "2000"],
            ["--budget", "10", "--format", "markdown"], ["--format", "markdown", "--depth", "2"],
            ["--format", "json", "--full"],
        ])
        func optionsThatExcludeEachOther(options: [String]) throws {
            let recorded = try Firstlight.record(["true"], in: scratch)
            let refused = try Firstlight.command(["report"] + options + [recorded.path]).run()
            #expect(refused.isRefusal(2), "\(refused)")
        }
    }
}
