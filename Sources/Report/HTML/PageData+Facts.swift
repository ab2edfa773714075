import Analysis
import Exports
import ProfileModel

/// Facts about the launch that do not come from samples.
extension PageData {
    func facts(_ extent: PageExtent, _ writer: inout JSONWriter) {
        section("initializers", profile.initializers, &writer, initializer)
        section("libraries", profile.libraries, &writer, library)
        imports(extent.imports, &writer)
        writer.field("leavesOutImports", extent.leavesOutImports)
        section("intervals", profile.intervals, &writer, interval)
        section("signposts", profile.signposts, &writer, signpost)
        section("waits", extent.waits, &writer, wait)
        writer.field("leavesOutWaits", extent.leavesOutWaits)
        section("children", Array(profile.processes.dropFirst()), &writer, child)
    }

    func findings(_ writer: inout JSONWriter) {
        section("findings", profile.findings(), &writer, finding)
    }

    /// The summary's texts. The page already has the findings and phases.
    func answer(_ writer: inout JSONWriter) {
        let answer = Answer(profile)
        let path = AnswerPath(answer)
        let weight = path?.stack.weight ?? .cpu
        let entries = path?.entries(of: profile.frames, most: Self.mostOfPath) ?? []
        writer.key("answer")
        writer.object { writer in
            writer.text("lead", answer.lead(path) ?? "")
            writer.text("composition", answer.composition(path))
            writer.text("wait", answer.longestWait ?? "")
            // Escaped already.
            writer.field("caption", path?.caption(showing: entries.count) ?? "")
            writer.text("weight", weight == .cpu ? "CPU time" : "wall time")
            writer.field("whole", path.map { weight.of($0.stack.total) } ?? .zero)
            writer.key("path")
            writer.array(entries) { writer, entry in
                writer.object {
                    $0.field("frame", entry.frame.rawValue)
                    $0.field("total", weight.of(entry.total))
                }
            }
        }
    }

    private static let mostOfPath = 12

    private func section<Element>(
        _ name: String, _ values: [Element], _ writer: inout JSONWriter,
        _ body: (Element, inout JSONWriter) -> Void
    ) {
        writer.key(name)
        writer.array(values) { writer, value in writer.object { body(value, &$0) } }
    }

    private func initializer(_ run: InitializerFigures, _ writer: inout JSONWriter) {
        let function = profile.frames[profile.frames[run.frame].function]
        writer.field("frame", run.frame.rawValue)
        writer.text("name", function.name)
        writer.text("module", function.module)
        writer.text("file", run.file)
        writer.field("line", run.line)
        writer.field("thread", run.thread)
        writer.field("start", run.start)
        writer.field("wall", run.wall)
        writer.field("cpu", run.cpu)
        writer.field("isComplete", run.isComplete)
    }

    private func library(_ library: LibraryFigures, _ writer: inout JSONWriter) {
        writer.text("path", library.path)
        writer.field("start", library.start)
        writer.field("wall", library.wall)
        writer.field("initializers", library.initializers)
        writer.field("size", library.size)
        writer.text("requestedBy", library.requestedBy)
        writer.key("caller")
        writer.array(library.caller) { $0.value($1.rawValue) }
        writer.field("isInitial", library.isInitial)
        // null: unknown.
        writer.field("used", known: library.used)
        writer.field("referenced", known: library.isReferenced)
        writer.field("own", library.isOwn)
    }

    /// There may be thousands. `parent` is the distance back to the parent; 0: there is none.
    private func imports(_ imports: [ImportFigures], _ writer: inout JSONWriter) {
        var files = StringTable()
        let positions = imports.map { $0.file.map { Int64(files($0.escapedForDisplay)) } }
        writer.key("imports")
        writer.object { writer in
            writer.key("files")
            writer.array(files.list) { $0.value($1) }
            writer.key("name")
            writer.array(imports) { $0.value($1.name.escapedForDisplay) }
            writer.column("file", positions) { $0 ?? -1 }
            writer.column("isAwaited", imports) { $0.isAwaited ? 1 : 0 }
            writer.column("thread", imports) { Int64($0.thread) }
            writer.column("parent", Array(imports.enumerated())) { index, run in
                Int64(run.parent.map { index - $0 } ?? 0)
            }
            writer.differences("start", imports) { $0.start.nanoseconds }
            writer.column("wall", imports) { $0.wall.nanoseconds }
            writer.column("cpu", imports) { $0.cpu.nanoseconds }
            writer.column("ownWall", imports) { $0.ownWall.nanoseconds }
            writer.column("ownCPU", imports) { $0.ownCPU.nanoseconds }
        }
    }

    private func interval(_ interval: IntervalFigures, _ writer: inout JSONWriter) {
        writer.text("name", interval.name)
        writer.text("category", interval.category)
        writer.field("thread", interval.thread)
        writer.field("start", interval.start)
        writer.field("wall", interval.wall)
        writer.field("cpu", interval.cpu)
        writer.field("isComplete", interval.isComplete)
    }

    private func signpost(_ signpost: SignpostFigures, _ writer: inout JSONWriter) {
        writer.text("name", signpost.name)
        writer.text("category", signpost.category)
        writer.field("thread", signpost.thread)
        writer.field("time", signpost.time)
    }

    private func wait(_ wait: WaitFigures, _ writer: inout JSONWriter) {
        writer.field("thread", wait.thread)
        writer.field("start", wait.start)
        writer.field("wall", wait.duration)
        writer.text("kind", wait.reason.kind.rawValue)
        writer.text("reason", wait.reason.words)
        // As in the text report: "nobody in particular" differs from "unknown".
        writer.text("endedBy", wait.endedByWords)
        writer.field("stack", profile.stackNode(of: wait) ?? -1)
    }

    private func finding(_ finding: Finding, _ writer: inout JSONWriter) {
        let words = FindingWords(profile: profile, finding: finding)
        writer.text("kind", finding.kind.rawValue)
        writer.field("saving", finding.saving)
        writer.text("title", words.title)
        writer.text("place", words.place)
        writer.key("details")
        writer.array(words.details) { $0.value($1.escapedForDisplay) }
        writer.text("advice", words.advice ?? "")
        writer.field("thread", finding.thread)
        writer.field("start", finding.range.lowerBound)
        writer.field("end", finding.range.upperBound)
    }

    private func child(_ child: ProcessFigures, _ writer: inout JSONWriter) {
        writer.field("pid", child.pid)
        writer.text("name", child.name)
        writer.field("start", child.start)
        // As far as the recording knows.
        writer.field("wall", child.wall ?? max(.zero, profile.launch.wall - child.start))
        writer.field("cpu", child.cpu)
        writer.text("ended", child.ending)
    }
}
