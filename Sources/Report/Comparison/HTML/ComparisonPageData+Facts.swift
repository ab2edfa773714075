import Analysis
import Exports
import ProfileModel

/// Waits, processes, initialisers, libraries and findings, as the text report shows them.
extension ComparisonPageData {
    func facts(_ writer: inout JSONWriter) {
        section("waits", comparison.changedWaits, &writer, wait)
        section("initializers", comparison.changedInitializers, &writer, initializer)
        section("libraries", comparison.changedLibraries, &writer, library)
        section("processes", comparison.changedProcesses, &writer, process)
        section("findings", comparison.findings, &writer, finding)
    }

    private func section<Element>(
        _ name: String, _ values: [Element], _ writer: inout JSONWriter,
        _ body: (Element, inout JSONWriter) -> Void
    ) {
        writer.key(name)
        writer.array(values) { writer, value in writer.object { body(value, &$0) } }
    }

    private func wait(_ wait: ComparedWait, _ writer: inout JSONWriter) {
        writer.text("reason", wait.identity.reason.words)
        writer.field("function", wait.identity.function.map { Int64($0.rawValue) } ?? -1)
        writer.text("phase", wait.identity.phase)
        writer.key("count")
        writer.array(Side.allCases) { $0.value(wait.counts[$1]) }
        writer.pair("duration", wait.durations)
    }

    private func initializer(_ initializer: ComparedInitializer, _ writer: inout JSONWriter) {
        writer.field("function", initializer.function.rawValue)
        writer.text("place", comparison.place(of: initializer.frames))
        writer.field("seen", initializer.frames.seen())
        writer.pair("wall", initializer.wall)
    }

    private func library(_ library: ComparedLibrary, _ writer: inout JSONWriter) {
        writer.text("name", library.name)
        writer.field("seen", library.loads.map { $0 > 0 ? $0 : nil }.seen())
        writer.pair("wall", library.wall)
    }

    private func process(_ process: ComparedProcess, _ writer: inout JSONWriter) {
        let counts = comparison.countsPerLaunch(of: process)
        writer.text("name", process.name)
        writer.key("count")
        writer.array(Side.allCases) { $0.value(counts[$1]) }
        writer.pair("wall", process.wall)
    }

    private func finding(_ finding: ComparedFinding, _ writer: inout JSONWriter) {
        let side: Side = finding.seen.after == nil ? .before : .after
        writer.field("status", finding.status.rawValue)
        writer.pair("saving", finding.saving)
        guard let seen = finding.seen[side] else { return }
        let words = FindingWords(
            profile: comparison.launches[side][seen.launch], finding: seen.finding)
        let phase = comparison.phase(of: finding, side).map { "\($0) · " } ?? ""
        writer.text("title", words.title)
        writer.text("place", phase + words.place)
        writer.key("details")
        writer.array(words.details) { $0.value($1.escapedForDisplay) }
        writer.text("advice", words.advice ?? "")
    }
}
