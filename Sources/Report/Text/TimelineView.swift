import Analysis
import Exports
import ProfileModel

/// One line for each thread; each column shows what the thread did for most of that time.
struct TimelineView {
    let profile: Profile
    let options: TextOptions

    /// How many threads are shown by default.
    private static let most = 100
    /// How many characters a thread's label may take.
    private static let labelWidth = 24
    /// How many characters a phase's name takes at least.
    private static let leastName = 5

    func render() -> String {
        let window = window
        let timelines = profile.timelines()
        let chosen = order.filter { index in
            timelines[index].contains { $0.start < window.upperBound && $0.end > window.lowerBound }
        }
        guard !window.isEmpty, !chosen.isEmpty else {
            return "no thread was recorded here".wrapped(to: options.columns)
        }
        let shown = chosen.prefix(options.depth ?? Self.most)
        let labels = shown.map {
            profile.label(ofThread: $0).escapedForDisplay.shortened(to: Self.labelWidth)
        }
        let margin = (labels.map(\.displayWidth).max() ?? 0) + 4
        let grid = TimeGrid(window: window, columns: max(1, options.columns - margin))
        var lines = [scale(grid, margin), phaseLine(grid, margin)]
        for (label, index) in zip(labels, shown) {
            let padding = String(repeating: " ", count: margin - 2 - label.displayWidth)
            lines.append("  " + label + padding + lane(timelines[index], grid))
        }
        if chosen.count > shown.count {
            let count = Numbers.grouped(chosen.count - shown.count)
            lines.append("  … \(count) more (--depth N shows N)")
        }
        lines.append("")
        lines.append(legend)
        lines.append("  a column is \(Numbers.time(grid.columnLength))")
        return lines.map { $0 + "\n" }.joined()
    }

    /// The span of time to show: everything between the ends of the selection.
    private var window: Range<TimeSpan> {
        var result = TimeSpan.zero..<profile.launch.wall
        if let phases = options.selection.phases {
            let chosen = profile.phases.indices.filter(phases.contains).map { profile.phases[$0] }
            let start = chosen.map(\.start).min() ?? .zero
            result = result.clamped(to: start..<max(start, chosen.map(\.end).max() ?? .zero))
        }
        if let ranges = options.selection.windows?.ranges {
            guard let first = ranges.first, let last = ranges.last else { return .zero ..< .zero }
            result = result.clamped(to: first.lowerBound..<last.upperBound)
        }
        return result
    }

    private var order: [Int] {
        profile.threads.indices.filter { options.selection.threads?.contains($0) ?? true }
            .sorted { (profile.threads[$0].start, $0) < (profile.threads[$1].start, $1) }
    }

    // MARK: Lines

    /// The moments of the first and the last column.
    private func scale(_ grid: TimeGrid, _ margin: Int) -> String {
        let first = Numbers.time(grid.window.lowerBound)
        let last = Numbers.time(grid.window.upperBound)
        let space = max(1, grid.columns - first.displayWidth - last.displayWidth)
        return String(repeating: " ", count: margin) + first
            + String(repeating: " ", count: space) + last
    }

    /// Each phase's name, starting at the phase's first column, if there is room.
    private func phaseLine(_ grid: TimeGrid, _ margin: Int) -> String {
        var line = String(repeating: " ", count: margin)
        var column = 0
        for phase in profile.phases {
            let (start, end) = (grid.column(of: phase.start), grid.column(of: phase.end))
            guard start >= column, end > start, phase.end > grid.window.lowerBound else {
                continue
            }
            line += String(repeating: " ", count: start - column)
            let isNamed = end - start >= Self.leastName
            let name =
                isNamed ? ("│" + phase.name.escapedForDisplay).shortened(to: end - start) : "│"
            line += name
            column = start + name.displayWidth
        }
        return options.usesColour ? Style.heading.applied(to: line) : line
    }

    private func lane(_ runs: [StateRun], _ grid: TimeGrid) -> String {
        var result = ""
        let states = grid.states(of: runs)
        var rest = states[...(states.lastIndex { $0 != nil } ?? 0)]
        while let state = rest.first {
            let same = rest.prefix { $0 == state }
            let text = String(repeating: state?.mark ?? " ", count: same.count)
            result += options.usesColour ? (state?.style ?? .plain).applied(to: text) : text
            rest = rest.dropFirst(same.count)
        }
        return result
    }

    private var legend: String {
        let marks = ThreadState.allCases.map { state in
            options.usesColour
                ? state.style.applied(to: state.mark) + " \(state.name)"
                : "\(state.mark) \(state.name)"
        }
        return "  " + marks.joined(separator: "   ")
    }
}

/// A span of time divided into columns.
private struct TimeGrid {
    let window: Range<TimeSpan>
    let columns: Int

    private var length: Int64 { (window.upperBound - window.lowerBound).nanoseconds }

    var columnLength: TimeSpan { TimeSpan(nanoseconds: length / Int64(columns)) }

    /// The column of a moment; the number of columns for the end and later moments.
    func column(of time: TimeSpan) -> Int {
        let offset = min(max(0, (time - window.lowerBound).nanoseconds), length)
        return Int(
            length.dividingFullWidth(offset.multipliedFullWidth(by: Int64(columns))).quotient)
    }

    private func start(of column: Int) -> TimeSpan {
        let product = length.multipliedFullWidth(by: Int64(column))
        return window.lowerBound
            + TimeSpan(nanoseconds: Int64(columns).dividingFullWidth(product).quotient)
    }

    /// The state that took most of each column's time; nil: the thread did not exist.
    func states(of runs: [StateRun]) -> [ThreadState?] {
        var times = [[Int64]](repeating: [0, 0, 0, 0], count: columns)
        for run in runs where run.start < window.upperBound && run.end > window.lowerBound {
            for column in column(of: run.start)...min(columns - 1, column(of: run.end))
            where column < columns {
                let end = min(run.end, start(of: column + 1))
                let part = end - max(run.start, start(of: column))
                times[column][Int(run.state.rawValue) - 1] += max(0, part.nanoseconds)
            }
        }
        return times.map { times in
            // Among equals the first: running before runnable before preempted before blocked.
            let most = times.max() ?? 0
            return most == 0
                ? nil : ThreadState.allCases.first { times[Int($0.rawValue) - 1] == most }
        }
    }
}

extension ThreadState {
    fileprivate var mark: String {
        switch self {
        case .running: "█"
        case .runnable: "▒"
        case .preempted: "▓"
        case .blocked: "·"
        }
    }
}
