import Analysis
import ProfileModel

/// The critical path in the order of time. What another thread did while one waited for it is
/// indented.
struct CriticalPathView {
    let profile: Profile
    let options: TextOptions

    /// Deeper ones are indented no further.
    private static let deepest = 8
    /// The least share of the whole of what is marked.
    private static let heavy: Int64 = 10

    func render() -> String {
        let path = profile.criticalPath(minDuration: options.minDuration)
        guard !path.segments.isEmpty else {
            return "nothing is known of the main thread\n"
        }
        var table = TextTable(
            columns: [
                .init(title: "START"), .init(title: "TOOK"), .init(title: "", alignment: .left),
                .init(title: "FOR A CORE", spareRank: 3),
                .init(title: "STATE", alignment: .left, minimum: 7),
                .init(title: "THREAD", alignment: .left, minimum: 6, spareRank: 0),
            ] + FrameCells.columns(title: "MOSTLY IN", options))
        let rows = path.segments.prefix(options.depth ?? .max)
        table.rows = rows.map { row($0, of: path.duration) }
        let more =
            rows.count < path.segments.count
            ? "  … \(Numbers.grouped(path.segments.count - rows.count)) more\n" : ""
        return meaning(path).wrapped(to: options.columns) + "\n"
            + table.render(width: options.columns, colour: options.usesColour) + more
    }

    private func meaning(_ path: CriticalPath) -> String {
        let what =
            "what decided that the launch took \(Numbers.time(path.duration)); ◀ marks a tenth "
            + "of it and more, FOR A CORE is what of it was spent waiting for one"
        guard path.account == .wakeups else {
            return what + ". Of the main thread alone: who woke whom was not recorded "
                + "(firstlight doctor says how to)"
        }
        return what + ". Indented: what another thread did while one waited for it"
    }

    private func row(
        _ segment: CriticalPath.Segment, of whole: TimeSpan
    ) -> [TextTable.Cell] {
        let isHeavy = segment.duration.nanoseconds >= whole.nanoseconds / Self.heavy
        var name = TextTable.Cell(
            profile.label(ofThread: segment.thread).escapedForDisplay)
        name.prefix = String(repeating: "  ", count: min(segment.depth, Self.deepest))
        return [
            .init(Numbers.time(segment.start)), .init(Numbers.time(segment.duration)),
            .init(isHeavy ? "◀" : ""),
            .init(Numbers.cell(segment.times.runnable + segment.times.preempted)),
            state(of: segment), name,
        ] + frame(of: segment)
    }

    private func state(of segment: CriticalPath.Segment) -> TextTable.Cell {
        guard segment.stretches == 1 else {
            return .init("\(Numbers.grouped(segment.stretches)) short stretches")
        }
        let words = segment.state?.name ?? "unknown"
        let reason = segment.reason.map { " (\($0.kind.rawValue))" } ?? ""
        return .init(words + reason, style: segment.state?.style ?? .plain)
    }

    /// The innermost function of the program's own, or the innermost at all.
    private func frame(of segment: CriticalPath.Segment) -> [TextTable.Cell] {
        let own = segment.stack.first { profile.frames.function(of: $0).isOwn }
        guard let frame = own ?? segment.stack.first else { return [.init("–")] }
        return FrameCells.cells(frame, of: profile.frames, options)
    }
}
