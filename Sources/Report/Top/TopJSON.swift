package import Analysis
import Exports
import ProfileModel

extension TopReport {
    /// The whole summary, by the schema in `docs/json.md`. Ends in a line break.
    ///
    /// - Parameter leftOut: recordings that were left out, and why.
    package static func json(
        _ summary: TopSummary, leftOut: [(path: String, reason: String)] = []
    ) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("schema", JSONSchema.top.version)
            writer.field("kind", "top")
            writer.field("phase", summary.phase)
            section("programs", summary.programs, &writer) { program($1, &$0) }
            section("resolvedUnseen", summary.unseen, &writer) { writer, entry in
                writer.object { ResolvedList.fields(entry, &$0) }
            }
            section("leftOut", leftOut, &writer) { writer, file in
                writer.object {
                    $0.field("path", file.path)
                    $0.field("reason", file.reason)
                }
            }
            writer.endLine()
        }
        writer.endLine()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private static func section<Element>(
        _ name: String, _ list: [Element], _ writer: inout JSONWriter,
        _ body: (inout JSONWriter, Element) -> Void
    ) {
        writer.breakLine()
        writer.key(name)
        writer.array(list, inLines: true, body)
    }

    private static func program(_ program: TopProgram, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("name", program.name)
            writer.field("launches", program.launches)
            writer.key("wallNs")
            time(program.wall, sum: program.wallSum, &writer)
            writer.field("failedLaunches", program.remarks.failed)
            writer.field("differInEnds", program.remarks.differInEnds)
            writer.field("differInCapture", program.remarks.differInCapture)
            writer.field("differInArguments", program.remarks.differInArguments)
            section("versions", program.versions, &writer) { version($1, &$0) }
            for (name, kind) in [
                ("functions", TopKind.function), ("waits", .wait), ("initializers", .initializer),
                ("libraries", .library), ("processes", .process),
            ] {
                section(name, program.things[kind] ?? [], &writer) { thing($1, &$0) }
            }
            section("resolved", program.resolved, &writer) { resolved($1, &$0) }
        }
    }

    private static func version(_ version: TopVersion, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("buildId", version.buildID.isEmpty ? nil : version.buildID.hex)
            writer.field("launches", version.launches)
            writer.key("wallNs")
            time(version.wall, &writer)
            for (name, launch) in [("first", version.first), ("last", version.last)] {
                writer.key(name)
                writer.object { writer in
                    writer.field("path", launch.path)
                    writer.field(
                        "date", CalendarDate.internetText(secondsSince1970: launch.date))
                }
            }
        }
    }

    // MARK: Things

    private static func thing(_ thing: TopThing, _ writer: inout JSONWriter) {
        writer.object { writer in
            if thing.kind.isNamedAlone {
                writer.field("name", thing.function.name)
            } else {
                writer.field("function", thing.function.name)
                writer.field("module", thing.function.module)
            }
            writer.field("own", thing.function.isOwn)
            if thing.kind == .function || thing.kind == .initializer {
                writer.field("file", thing.file)
                writer.field("line", thing.line)
            }
            if let reason = thing.reason {
                writer.field("reason", reason.kind.rawValue)
                writer.field("detail", reason.detail)
                writer.field("mainThread", thing.thread == nil)
                writer.field("thread", thing.thread)
            }
            writer.field("resolved", thing.resolved?.rawValue)
            figures(thing.figures, of: thing.kind, &writer)
            writer.key("byVersion")
            let seen = thing.byVersion.enumerated().filter { $0.element.seen > 0 }
            writer.array(seen) { writer, version in
                writer.object {
                    $0.field("version", version.offset)
                    figures(version.element, of: thing.kind, &$0)
                }
            }
        }
    }

    private static func figures(
        _ figures: TopFigures, of kind: TopKind, _ writer: inout JSONWriter
    ) {
        writer.field("launches", figures.launches)
        writer.field("seen", figures.seen)
        let sum = figures.sum
        if kind == .function {
            writer.key("selfWallNs")
            time(figures.own, sum: sum.own.wall, &writer)
            writer.field("selfCpuNs", sum.own.cpu)
            writer.field("selfBlockedNs", sum.own.blocked)
            writer.key("totalWallNs")
            time(figures.total, sum: sum.total.wall, &writer)
            writer.field("totalCpuNs", sum.total.cpu)
            writer.field("totalBlockedNs", sum.total.blocked)
            return
        }
        writer.key("wallNs")
        time(figures.total, sum: sum.total.wall, &writer)
        switch kind {
        case .function, .wait: break
        case .initializer, .process: writer.field("cpuNs", sum.total.cpu)
        case .library:
            writer.field("unknownCost", figures.unknown)
            writer.field("unused", figures.unused)
        }
        writer.field("count", sum.count)
    }

    private static func resolved(_ state: ResolvedState, _ writer: inout JSONWriter) {
        writer.object { writer in
            ResolvedList.fields(state.entry, &writer)
            writer.field("status", state.status.rawValue)
            writer.field("leastNs", state.newer.launches > 0 ? state.least : nil)
            for (name, figures) in [("older", state.older), ("newer", state.newer)] {
                writer.key(name)
                writer.object { writer in
                    writer.field("launches", figures.launches)
                    writer.field("seen", figures.seen)
                    writer.key("wallNs")
                    time(figures.total, sum: figures.sum.total.wall, &writer)
                }
            }
        }
    }

    /// `{"sum":…,"mean":…,"margin":…}`
    private static func time(
        _ time: MeanTime?, sum: TimeSpan? = nil, _ writer: inout JSONWriter
    ) {
        writer.object { writer in
            if let sum { writer.field("sum", sum) }
            writer.field("mean", time?.mean)
            writer.field("margin", time?.margin)
        }
    }
}
