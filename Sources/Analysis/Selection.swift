package import ProfileModel

/// The part of a profile that a query is about: positions in its lists; nil for all.
package struct Selection: Hashable, Sendable {
    package var phases: Set<Int>?
    package var threads: Set<Int>?
    package var windows: TimeWindows?
    /// The name of the interval with these windows, for readers.
    package var interval: String?
    /// True: only ``MainThread``, in place of `threads`.
    package var isOfMainThread: Bool

    package init(
        phases: Set<Int>? = nil, threads: Set<Int>? = nil, windows: TimeWindows? = nil,
        interval: String? = nil, isOfMainThread: Bool = false
    ) {
        self.isOfMainThread = isOfMainThread
        self.phases = phases
        self.threads = threads
        self.windows = windows
        self.interval = interval
    }

    package static let all = Selection()
}

/// A name that does not occur in the recording.
package enum SelectionError: Error, Hashable, CustomStringConvertible {
    case unknownPhase(String, known: [String])
    case unknownThread(String, known: [String])
    case unknownInterval(String, known: [String])
    case unknownProcess(String, known: [String])
    /// Several processes have this name.
    case ambiguousProcess(String, pids: [String])
    /// An event has a time, but no length.
    case isEvent(String)

    package var description: String {
        switch self {
        case .unknownPhase(let name, let known): Self.sentence("phase", name, known)
        case .unknownThread(let name, let known): Self.sentence("thread", name, known)
        case .unknownInterval(let name, let known): Self.sentence("interval", name, known)
        case .unknownProcess(let name, let known): Self.sentence("process", name, known)
        case .ambiguousProcess(let name, let pids):
            "several processes are called '\(name)': give one's id: \(Self.list(pids))"
        case .isEvent(let name):
            "'\(name)' is an event, a point in time, and has no length"
        }
    }

    private static func sentence(_ kind: String, _ name: String, _ known: [String]) -> String {
        // Names of threads and processes are preceded by their ids.
        let names = known.map { word in
            guard let space = word.firstIndex(of: " "), Int32(word[..<space]) != nil else {
                return word
            }
            return String(word[word.index(after: space)...])
        }
        return "no \(kind) '\(name)' in this recording; it has: \(list(known))"
            + Suggestions.question(about: name, among: names.filter { !$0.isEmpty })
    }

    private static func list(_ known: [String]) -> String {
        let limit = 12
        let more = known.count > limit ? " and \(known.count - limit) more" : ""
        return known.isEmpty ? "none" : known.prefix(limit).joined(separator: ", ") + more
    }
}

extension Profile {
    /// The selection for the names that the user gave.
    ///
    /// A phase is given by its name, or by the beginning of one name; case does not matter. A
    /// thread is given by its id or its name; a name means every thread that has it. An interval is
    /// given like a phase, and means all time of that name, on all threads.
    package func selection(
        phase: String? = nil, thread: String? = nil, interval: String? = nil
    ) throws(SelectionError) -> Selection {
        var result = Selection()
        if let interval {
            let name = try intervalName(interval)
            result.interval = name
            result.windows = windows(ofIntervalsNamed: name)
        }
        if let phase { result.phases = try phases(named: phase) }
        if let thread { result.threads = try threads(named: thread) }
        return result
    }

    private func phases(named wanted: String) throws(SelectionError) -> Set<Int> {
        guard let found = PhaseNames.match(wanted, in: phases) else {
            throw .unknownPhase(wanted, known: unique(phases.map(\.name)))
        }
        return found.positions
    }

    private func intervalName(_ wanted: String) throws(SelectionError) -> String {
        let names = unique(intervals.map(\.name))
        if names.contains(wanted) { return wanted }
        let folded = wanted.lowercased()
        let equal = names.filter { $0.lowercased() == folded }
        if equal.count == 1 { return equal[0] }
        let matching = folded.isEmpty ? [] : names.filter { $0.lowercased().hasPrefix(folded) }
        if equal.isEmpty, matching.count == 1 { return matching[0] }
        if signposts.contains(where: { $0.name == wanted }) { throw .isEvent(wanted) }
        throw .unknownInterval(wanted, known: names)
    }

    /// The joint time of all intervals of a name, within the launch.
    package func windows(ofIntervalsNamed name: String) -> TimeWindows {
        TimeWindows(
            intervals.lazy.filter { $0.name == name }.map {
                self.window(from: $0.start, to: $0.end)
            })
    }

    /// The part of a stretch within the launch.
    private func window(from start: TimeSpan, to end: TimeSpan) -> Range<TimeSpan> {
        func within(_ time: TimeSpan) -> TimeSpan { min(max(time, .zero), launch.wall) }
        return within(start)..<max(within(start), within(end))
    }

    /// The initialiser's thread during its run.
    package func selection(of initializer: InitializerFigures) -> Selection {
        Selection(
            threads: [initializer.thread],
            windows: TimeWindows([window(from: initializer.start, to: initializer.end)]))
    }

    /// The part of a phase that lies in a selection's windows; the phase itself if there are none.
    /// Page faults and other counters are not known for a part.
    package func phase(_ index: Int, in selection: Selection) -> Phase {
        guard let windows = selection.windows else { return phases[index] }
        var result = phases[index]
        result.wall = windows.length(within: phases[index].start..<phases[index].end)
        result.counters = ProcessCounters()
        result.cpu = times(in: Selection(phases: [index], windows: windows)).running
        result.mainThread = times(
            in: Selection(phases: [index], windows: windows, isOfMainThread: true))
        return result
    }

    /// Whether an event or a stretch between two moments, on a thread if that is known, overlaps a
    /// selection. Points in time can, too.
    package func includes(
        _ selection: Selection, from start: TimeSpan, to end: TimeSpan, thread: Int?
    ) -> Bool {
        func meets(_ range: Range<TimeSpan>) -> Bool {
            start < range.upperBound && (end > range.lowerBound || start >= range.lowerBound)
        }
        if let threads = selection.threads, let thread, !threads.contains(thread) { return false }
        if let chosen = selection.phases,
            !chosen.contains(where: { meets(phases[$0].start..<phases[$0].end) })
        {
            return false
        }
        return selection.windows.map { $0.ranges.contains(where: meets) } ?? true
    }

    private func threads(named wanted: String) throws(SelectionError) -> Set<Int> {
        if let tid = Int32(wanted) {
            let found = threads.indices.filter { threads[$0].tid == tid }
            if !found.isEmpty { return Set(found) }
        }
        let exact = threads.indices.filter { threads[$0].name == wanted }
        if !exact.isEmpty { return Set(exact) }
        let folded = wanted.lowercased()
        let found = threads.indices.filter { threads[$0].name.lowercased() == folded }
        guard !found.isEmpty else {
            throw .unknownThread(
                wanted, known: threads.map { "\($0.tid) \($0.name)" })
        }
        return Set(found)
    }

    private func unique(_ names: [String]) -> [String] {
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }
    }

    /// The sum of the selected threads' times in the selected phases.
    package func times(in selection: Selection) -> StateTimes {
        var result = StateTimes.zero
        forEachPart(in: selection) { result = result + $0.times }
        return result
    }

    /// The same for each thread, in the order of ``threads``.
    package func timesByThread(in selection: Selection) -> [StateTimes] {
        var result = [StateTimes](repeating: .zero, count: threads.count)
        forEachPart(in: selection) {
            result[Int($0.thread)] = result[Int($0.thread)] + $0.times
        }
        return result
    }
}
