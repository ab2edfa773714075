import Analysis
import Exports
import ProfileModel

/// The waits, in the order of time: for what, where, and what ended them.
struct EventsView {
    let profile: Profile
    let options: TextOptions

    /// How many lines are shown by default.
    private static let most = 200

    func render() -> String {
        let shortest = options.minDuration ?? Wait.shortest
        let waits = profile.waits(in: options.selection, shortest: shortest)
        let least = "\(Numbers.time(shortest)) or longer"
        guard !waits.isEmpty else {
            let text =
                profile.header.capture == .perf
                ? "not known: perf does not record what threads wait for (if switches were "
                    + "recorded, --view threads shows how long, and --weight blocked where)"
                : "no thread was blocked for \(least) here"
            return text.wrapped(to: options.columns)
        }
        let limit = options.depth ?? Self.most
        var table = TextTable(columns: [
            .init(title: "START"), .init(title: "BLOCKED", style: .blocked),
            .init(title: "THREAD", alignment: .left, minimum: 6, spareRank: 1),
            .init(title: "REASON", alignment: .left, minimum: 12),
            .init(title: "ENDED BY", alignment: .left, minimum: 7, spareRank: 2),
            .init(title: "WHERE", alignment: .left, minimum: 12, spareRank: 3),
        ])
        table.rows = waits.prefix(limit).map(row)
        let more =
            waits.count > limit
            ? "  … \(Numbers.grouped(waits.count - limit)) more (--depth N shows N)\n" : ""
        let title =
            "\(Numbers.count(waits.count, "wait")) of \(least) (--min-duration changes that)"
        return title.wrapped(to: options.columns) + "\n"
            + table.render(width: options.columns, colour: options.usesColour) + more
    }

    private func row(_ wait: WaitFigures) -> [TextTable.Cell] {
        [
            .init(Numbers.time(wait.start)), .init(Numbers.time(wait.duration)),
            .init(profile.label(ofThread: wait.thread).escapedForDisplay),
            .init(wait.reason.words.escapedForDisplay),
            .init(wait.endedByWords.escapedForDisplay),
            .init(place(of: wait)),
        ]
    }

    /// How many functions are named, and with how many columns each.
    private static let (mostFunctions, functionWidth) = (3, 32)

    /// `Semaphore::wait ← StarCatalogue::loadStars`: the innermost own functions, or if there are
    /// none, the innermost function.
    private func place(of wait: WaitFigures) -> String {
        let functions = profile.stack(of: wait).reversed().map { profile.frames.function(of: $0) }
        let own = functions.filter(\.isOwn)
        let shown = (own.isEmpty ? functions : own).prefix(Self.mostFunctions)
        return shown.map { function in
            function.name.escapedForDisplay.shortenedFunction(to: Self.functionWidth)
        }.joined(separator: " ← ")
    }
}

extension WaitFigures {
    /// `loader (4242)`; `–`: no particular thread.
    var endedByWords: String {
        guard let waker = endedBy else { return reason.endsByItself ? "–" : "unknown" }
        guard let name = waker.name, !name.isEmpty else { return "thread \(waker.tid)" }
        return "\(name) (\(waker.tid))"
    }
}

extension WaitReason {
    /// `lock: mutex queue`, `futex`.
    var words: String {
        guard let detail else { return kind.rawValue }
        return kind == .other ? detail : "\(kind.rawValue): \(detail)"
    }

    /// True if time or a device ends it, not a thread.
    fileprivate var endsByItself: Bool {
        isTimedOut || [.sleep, .file, .disk, .ioUring].contains(kind)
    }
}
