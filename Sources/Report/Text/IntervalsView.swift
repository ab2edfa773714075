import Analysis
import Exports
import ProfileModel

/// The program's intervals and events, and the requested marks, in the order of time.
struct IntervalsView {
    let profile: Profile
    let options: TextOptions

    /// How many lines are shown by default.
    private static let most = 200

    func render() -> String {
        let entries = PointEntry.all(of: profile, options.selection, withPhases: true)
        guard !entries.isEmpty else {
            let text =
                "no intervals or events here: the program emitted no signposts, and no marks were "
                + "set"
            return text.wrapped(to: options.columns)
        }
        let limit = options.depth ?? Self.most
        var table = TextTable(columns: [
            .init(title: "START"), .init(title: "WALL"), .init(title: "CPU"),
            .init(title: "CPU OF ALL", spareRank: 2),
            .init(title: "NAME", alignment: .left, minimum: 16),
            .init(title: "CATEGORY", alignment: .left, minimum: 6, spareRank: 1),
            .init(title: "THREAD", alignment: .left, minimum: 6, spareRank: 3),
        ])
        table.rows = entries.prefix(limit).map { row($0) }
        let more =
            entries.count > limit
            ? "  … \(Numbers.grouped(entries.count - limit)) more (--depth N shows N)\n" : ""
        let meaning =
            "CPU is the CPU time of the thread that began the interval, CPU OF ALL that of all "
            + "threads during it; --interval NAME shows the stacks of one interval"
        return meaning.wrapped(to: options.columns) + "\n"
            + table.render(width: options.columns, colour: options.usesColour) + more
    }

    private func row(_ entry: PointEntry) -> [TextTable.Cell] {
        var name = TextTable.Cell(entry.name.escapedForDisplay)
        if !entry.isComplete { name.suffix = " (no end)" }
        let subsystem = entry.subsystem.isEmpty ? "" : entry.subsystem + " "
        let category =
            entry.category.isEmpty && subsystem.isEmpty ? "–" : subsystem + entry.category
        return [
            .init(Numbers.time(entry.start)), .init(entry.wallCell),
            .init(entry.threadCPU.map(Numbers.cell) ?? ""),
            .init(entry.cpu.map(Numbers.cell) ?? ""), name,
            .init(category.escapedForDisplay),
            .init(entry.thread.map { profile.threads[$0].label.escapedForDisplay } ?? "–"),
        ]
    }
}

/// The points of interest in the summary, with one line per name.
struct PointsOfInterestTable {
    let profile: Profile
    let options: TextOptions

    var most = 12

    /// Empty when there are none.
    func render() -> String {
        let groups = groups()
        guard !groups.isEmpty else { return "" }
        var table = TextTable(columns: [
            .init(title: "POINT OF INTEREST", alignment: .left, minimum: 16),
            .init(title: "START"), .init(title: "WALL"), .init(title: "CPU"),
        ])
        table.rows = groups.prefix(most).map { group in
            var name = TextTable.Cell(group.entry.name.escapedForDisplay)
            if group.count > 1 { name.suffix = " ×\(Numbers.grouped(group.count))" }
            if !group.entry.isComplete { name.suffix += " (no end)" }
            return [
                name, .init(Numbers.time(group.entry.start)), .init(group.entry.wallCell),
                .init(group.entry.threadCPU.map(Numbers.cell) ?? ""),
            ]
        }
        let more =
            groups.count > most
            ? "  … \(Numbers.grouped(groups.count - most)) more: report --view intervals\n"
            : ""
        return table.render(width: options.columns, colour: options.usesColour) + more
    }

    private struct Key: Hashable {
        var name: String
        var category: String
        var isEvent: Bool
    }

    /// In the order of their first occurrence.
    private func groups() -> [(entry: PointEntry, count: Int)] {
        var places: [Key: Int] = [:]
        var groups: [(entry: PointEntry, count: Int)] = []
        for entry in PointEntry.all(of: profile, options.selection, withPhases: false) {
            let key = Key(name: entry.name, category: entry.category, isEvent: entry.wall == nil)
            guard let place = places[key] else {
                places[key] = groups.count
                groups.append((entry, 1))
                continue
            }
            groups[place].count += 1
            groups[place].entry.add(entry)
        }
        return groups
    }
}

/// An interval or an event as a line shows it.
struct PointEntry {
    var name: String
    var category: String
    var subsystem: String
    var thread: Int?
    var start: TimeSpan
    /// nil: an event.
    var wall: TimeSpan?
    var threadCPU: TimeSpan?
    var cpu: TimeSpan?
    var isComplete: Bool

    /// The entries of a selection in the order of time; at the same moment, intervals come before
    /// events.
    static func all(
        of profile: Profile, _ selection: Selection, withPhases: Bool
    ) -> [PointEntry] {
        let intervals = profile.intervals.lazy.filter {
            (withPhases || !$0.isPhase)
                && profile.includes(selection, from: $0.start, to: $0.end, thread: $0.thread)
        }.map(PointEntry.init)
        let events = profile.signposts.lazy.filter {
            profile.includes(selection, from: $0.time, to: $0.time, thread: $0.thread)
        }.map(PointEntry.init)
        return merged(Array(intervals), Array(events))
    }

    /// Both lists are already sorted.
    private static func merged(_ left: [PointEntry], _ right: [PointEntry]) -> [PointEntry] {
        var result: [PointEntry] = []
        var rest = right[...]
        for entry in left {
            while let first = rest.first, first.start < entry.start {
                result.append(first)
                rest.removeFirst()
            }
            result.append(entry)
        }
        return result + rest
    }

    private init(_ interval: IntervalFigures) {
        name = interval.name
        category = interval.category
        subsystem = interval.subsystem
        thread = interval.thread
        start = interval.start
        wall = interval.wall
        threadCPU = interval.threadCPU
        cpu = interval.cpu
        isComplete = interval.isComplete
    }

    private init(_ signpost: SignpostFigures) {
        name = signpost.name
        category = signpost.category
        subsystem = signpost.subsystem
        thread = signpost.thread
        start = signpost.time
        isComplete = true
    }

    /// If an interval's end was not seen, this is its minimum.
    var wallCell: String {
        guard let wall else { return "event" }
        return (isComplete ? "" : "≥ ") + Numbers.time(wall)
    }

    /// Adds another entry with the same name.
    mutating func add(_ other: PointEntry) {
        if let first = wall, let second = other.wall { wall = first + second }
        if let first = threadCPU, let second = other.threadCPU { threadCPU = first + second }
        isComplete = isComplete && other.isComplete
    }
}
