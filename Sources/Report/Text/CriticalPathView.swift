import Analysis
import Exports
import ProfileModel

/// The critical path: first its longest stretches, with the rest summed; then all of it in the
/// order of time. While one thread waited for another, the other thread's work is indented.
struct CriticalPathView {
    let profile: Profile
    let options: TextOptions

    /// Deeper levels are not indented further.
    private static let deepest = 8
    /// How many stretches are listed first, if each has at least this share of the path.
    private static let (most, least) = (8, 0.02)
    /// In the order of time, stretches with a smaller share are merged, unless the user gives a
    /// minimum.
    private static let shortest = 0.01

    func render() -> String {
        let path = profile.criticalPath(
            minDuration: options.minDuration ?? Wait.shortest,
            leastShare: options.minDuration == nil ? Self.shortest : 0)
        guard !path.segments.isEmpty else {
            return "the main thread was not recorded\n"
        }
        return meaning(path).wrapped(to: options.columns) + "\n" + longest(path) + "\n"
            + inOrder(path)
    }

    private func meaning(_ path: CriticalPath) -> String {
        let what = "what decided that the launch took \(Numbers.time(path.duration))"
        guard path.account == .wakeups else {
            return what + ", from the main thread alone: who woke whom was not recorded "
                + "(firstlight doctor says how to record it)"
        }
        return what + ": the main thread, and (indented) whom it waited for"
    }

    // MARK: The longest

    private func longest(_ path: CriticalPath) -> String {
        let order = path.segments.indices.sorted {
            (path.segments[$1].duration, $0) < (path.segments[$0].duration, $1)
        }
        let shown = order.prefix(min(options.depth ?? Self.most, Self.most)).filter {
            Double(path.segments[$0].duration.nanoseconds)
                >= Self.least * Double(path.duration.nanoseconds)
        }
        var table = table("LONGEST", of: path)
        table.rows = shown.map { row(path.segments[$0], of: path, isIndented: false) }
        let others = path.segments.indices.filter { !shown.contains($0) }
        return text(table) + rest(others.map { path.segments[$0] }, of: path)
    }

    private func rest(_ others: [CriticalPath.Segment], of path: CriticalPath) -> String {
        guard !others.isEmpty else { return "" }
        let duration = others.reduce(TimeSpan.zero) { $0 + $1.duration }
        let times = others.reduce(StateTimes.zero) { $0 + $1.times }
        let parts = [
            ("running", times.running), ("blocked", times.blocked),
            ("for a core", times.runnable + times.preempted),
        ].filter { $0.1 > .zero }.map { "\(Numbers.time($0.1)) \($0.0)" }
        return
            ("the rest, \(Numbers.time(duration)) (\(Numbers.percent(duration, of: path.duration)))"
            + (parts.isEmpty ? "" : ": " + parts.joined(separator: ", ")))
            .wrapped(to: options.columns)
    }

    // MARK: The order of time

    private func inOrder(_ path: CriticalPath) -> String {
        var table = table("OVER TIME", of: path)
        let rows = path.segments.prefix(options.depth ?? .max)
        table.rows = rows.map { row($0, of: path, isIndented: true) }
        let more =
            rows.count < path.segments.count
            ? "  … \(Numbers.grouped(path.segments.count - rows.count)) more\n" : ""
        return text(table) + more
    }

    // MARK: Rows

    private func table(_ title: String, of path: CriticalPath) -> TextTable {
        let thread = TextTable.Column(
            title: "THREAD", alignment: .left, minimum: options.columns < 90 ? 20 : 12,
            spareRank: 1)
        return TextTable(
            columns: [
                .init(title: title, alignment: .left, minimum: options.columns < 90 ? 12 : 24),
                .init(title: "", alignment: .left, minimum: 10, spareRank: 3),
            ] + (threads(of: path).count > 1 ? [thread] : []) + [
                .init(title: "STATE", alignment: .left),
                .init(title: "FOR A CORE", spareRank: 4),
                .init(title: "START"), .init(title: "TOOK"), .init(title: "SHARE", spareRank: 2),
            ])
    }

    private func text(_ table: TextTable) -> String {
        table.render(width: options.columns, colour: options.usesColour)
    }

    private func threads(of path: CriticalPath) -> Set<Int> { Set(path.segments.map(\.thread)) }

    private func row(
        _ segment: CriticalPath.Segment, of path: CriticalPath, isIndented: Bool
    ) -> [TextTable.Cell] {
        let depth = isIndented ? min(segment.depth, Self.deepest) : 0
        let name = profile.label(ofThread: segment.thread).escapedForDisplay
        return place(of: segment, after: String(repeating: "  ", count: depth))
            + (threads(of: path).count > 1 ? [.init(name)] : []) + [
                state(of: segment),
                .init(Numbers.cell(segment.times.runnable + segment.times.preempted)),
                .init(Numbers.time(segment.start)), .init(Numbers.time(segment.duration)),
                .init(Numbers.percent(segment.duration, of: path.duration)),
            ]
    }

    /// Never shortened, because it distinguishes stretches.
    private func state(of segment: CriticalPath.Segment) -> TextTable.Cell {
        guard segment.stretches == 1 else {
            return .init("\(Numbers.grouped(segment.stretches)) short")
        }
        let words = segment.state?.name ?? "unknown"
        let reason = segment.reason.map { " (\($0.kind.rawValue))" } ?? ""
        return .init(words + reason, style: segment.state?.style ?? .plain)
    }

    /// The most telling function of the stack, and its place.
    private func place(
        of segment: CriticalPath.Segment, after indent: String
    ) -> [TextTable.Cell] {
        guard let frame = profile.place(in: segment.stack.reversed()) else {
            return [.init(indent + "  –"), .init("")]
        }
        var narrow = options
        narrow.width = TextOptions.minimumWidth
        return FrameCells.cells(frame, of: profile.frames, narrow, prefix: indent)
    }
}
