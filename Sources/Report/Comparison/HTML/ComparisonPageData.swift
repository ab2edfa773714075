import Analysis
import Exports
import ProfileModel

/// The page's data about a comparison, as JSON. `Page/compared.js` reads it.
///
/// A figure of both launches is a list of two: before, after. `seen` is 1 if only the earlier
/// launch has the thing, 2 for the later one, 3 for both, 0 if unknown. Texts are already escaped
/// for display; position -1 means none.
struct ComparisonPageData {
    let comparison: ProfileComparison
    /// The part of each side's launch that is shown.
    private let extents: [(side: Side, extent: PageExtent)]

    init(_ comparison: ProfileComparison) {
        self.comparison = comparison
        extents = Side.allCases.map { ($0, PageExtent(timelineOf: comparison.profiles[$0])) }
    }

    /// UTF-8.
    func render() -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            header(&writer)
            launches(&writer)
            writer.functions(comparison.functions.functions)
            writer.key("phases")
            writer.array(comparison.phases) { phase($1, &$0) }
            facts(&writer)
        }
        return writer.bytes
    }

    // MARK: The launches

    private func header(_ writer: inout JSONWriter) {
        writer.text("title", ComparisonPage.title(of: comparison))
        var options = TextOptions()
        options.width = 10_000
        let header = ComparisonHeader(comparison: comparison, options: options)
        writer.key("summaries")
        writer.array(Side.allCases) { writer, side in
            writer.value(header.figures(of: side).joined(separator: " · "))
        }
        // The timelines' launches.
        writer.key("shown")
        writer.array(Side.allCases) { writer, side in
            let name = ComparisonPage.name(of: comparison.profiles[side]).escapedForDisplay
            let count = comparison.launches[side].count
            writer.value(count > 1 ? "\(name), the first of \(count) launches" : name)
        }
        writer.pair("wall", comparison.wall)
        writer.pair("cpu", comparison.cpu)
        writer.pair("blocked", comparison.blocked)
        writer.field("leastChange", comparison.leastChange)
        writer.key("notes")
        let shown = extents.flatMap { entry in
            entry.extent.notes.map { "\(entry.side.name): \($0)" }
        }
        writer.array(ComparisonNotes(comparison: comparison).texts + shown) {
            $0.value($1.escapedForDisplay)
        }
    }

    private func launches(_ writer: inout JSONWriter) {
        writer.key("launches")
        writer.array(extents) { writer, entry in
            PageData(comparison.profiles[entry.side]).timeline(entry.extent, &writer)
        }
    }

    // MARK: Phases

    private func phase(_ phase: ComparedPhase, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.text("name", phase.name)
            writer.field("seen", phase.figures.seen())
            writer.field("sure", comparison.isSure(phase.walls))
            writer.pair("wall", phase.wall)
            writer.pair("cpu", phase.cpu)
            writer.pair("blocked", phase.blocked)
            writer.key("main")
            writer.object { $0.costs(phase.cost) }
            nodes(phase.topDown, &writer)
            writer.key("changes")
            writer.array(phase.changes) { change($1, of: phase, &$0) }
            writer.key("functions")
            writer.array(comparison.changedFunctions(of: phase)) { writer, function in
                writer.object { writer in
                    writer.field("function", function.function.rawValue)
                    let frames = phase.frames(of: function.function)
                    writer.text("place", comparison.place(of: frames))
                    writer.pair("own", function.own.map(\.wall))
                    writer.pair("total", function.total.map(\.wall))
                }
            }
        }
    }

    /// Only own times: the total of a node is the sum over its subtree.
    private func nodes(_ tree: ComparedTree, _ writer: inout JSONWriter) {
        let nodes = tree.nodes
        writer.key("nodes")
        writer.object { writer in
            // The distance back to the caller; 0: there is none.
            writer.column("caller", Array(nodes.enumerated())) { index, node in
                Int64(node.parent.map { index - $0 } ?? 0)
            }
            writer.column("function", nodes) { Int64($0.function.rawValue) }
            writer.column("seen", nodes) { $0.frames.seen() }
            // For several launches, whether a change is certain; for single ones this is unknown.
            writer.column("sure", nodes) { comparison.isSure($0.walls) ? 1 : 0 }
            writer.columns("wall", nodes) { $0.own.map(\.wall) }
            writer.columns("cpu", nodes) { $0.own.map(\.cpu) }
            writer.columns("blocked", nodes) { $0.own.map(\.blocked) }
        }
    }

    private func change(
        _ change: Change, of phase: ComparedPhase, _ writer: inout JSONWriter
    ) {
        let caller = comparison.ownCaller(of: change.node, in: phase.topDown)
        let frames = phase.topDown.nodes[change.node].frames
        writer.object { writer in
            writer.field("node", change.node)
            writer.field("kind", change.kind.rawValue)
            writer.field("caller", caller.map { Int64($0.rawValue) } ?? -1)
            writer.text("place", comparison.place(of: frames))
            writer.costs(change.cost)
        }
    }
}

extension Compared {
    /// Which sides have the thing: one bit for each.
    func seen<Wrapped>() -> Int64 where Value == Wrapped? {
        (before == nil ? 0 : 1) + (after == nil ? 0 : 2)
    }
}

extension JSONWriter {
    mutating func pair(_ name: String, _ times: Compared<TimeSpan>) {
        key(name)
        array(Side.allCases) { $0.value(times[$1].nanoseconds) }
    }

    fileprivate mutating func costs(_ cost: Compared<Cost>) {
        pair("wall", cost.map(\.wall))
        pair("cpu", cost.map(\.cpu))
        pair("blocked", cost.map(\.blocked))
    }

    /// A column for each side.
    fileprivate mutating func columns<Element>(
        _ name: String, _ values: [Element], _ times: (Element) -> Compared<TimeSpan>
    ) {
        key(name)
        array(Side.allCases) { writer, side in
            writer.array(values) { $0.value(times($1)[side].nanoseconds) }
        }
    }
}

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
