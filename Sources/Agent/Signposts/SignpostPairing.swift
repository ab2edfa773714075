package import ProfileModel

/// Pairs beginnings and ends to intervals. It remembers only open ones, at most ``openLimit``, and
/// hands out at most ``limit`` results in all. It counts what exceeds these limits.
package struct SignpostPairing {
    package enum Result: Hashable, Sendable {
        case interval(Interval)
        case signpost(Signpost)
    }

    package struct Counts: Hashable, Sendable {
        /// Ends whose beginning is unknown: there was none, it came before the recording, or it was
        /// lost.
        package var endsWithoutBegin: UInt64 = 0
        /// Intervals that had not ended when the recording ended.
        package var unfinished: UInt64 = 0
        /// Intervals and signposts beyond the limits.
        package var unkept: UInt64 = 0
    }

    package static let openLimit = 65_536
    package static let limit = 200_000

    private struct Key: Hashable {
        var id: UInt64
        var label: SignpostLabel
    }

    private let limit: Int
    private let openLimit: Int
    private var given: [UInt64: Interval] = [:]
    /// The last to begin is last.
    private var chosen: [Key: [Interval]] = [:]
    private var openCount = 0
    private var results = 0
    package private(set) var counts = Counts()

    package init(limit: Int = Self.limit, openLimit: Int = Self.openLimit) {
        self.limit = limit
        self.openLimit = openLimit
    }

    /// - Parameter thread: the event's thread, if it is recorded.
    /// - Returns: the result that this event completes.
    package mutating func add(_ event: SignpostEvent, thread: ThreadIndex?) -> Result? {
        let label = event.label
        switch event.kind {
        case .event:
            return kept(
                .signpost(
                    Signpost(
                        name: label.name, category: label.category, subsystem: label.subsystem,
                        thread: thread, time: event.time)))
        case .begin:
            begin(
                Interval(
                    name: label.name, category: label.category, subsystem: label.subsystem,
                    thread: thread, start: event.time, end: event.time, isComplete: false),
                event)
            return nil
        case .end:
            guard var interval = takeOpen(event) else {
                counts.endsWithoutBegin &+= 1
                return nil
            }
            interval.end = max(interval.start, event.time)
            interval.isComplete = true
            return kept(.interval(interval))
        }
    }

    /// Closes the open intervals, in the order of their beginnings.
    package mutating func finish(at end: MonotonicTime) -> [Result] {
        let left = (Array(given.values) + chosen.values.joined()).sorted {
            ($0.start, $0.name, $0.category) < ($1.start, $1.name, $1.category)
        }
        given = [:]
        chosen = [:]
        openCount = 0
        counts.unfinished &+= UInt64(left.count)
        return left.compactMap { interval in
            var interval = interval
            interval.end = max(interval.start, end)
            return kept(.interval(interval))
        }
    }

    private mutating func begin(_ interval: Interval, _ event: SignpostEvent) {
        guard openCount < openLimit else {
            counts.unkept &+= 1
            return
        }
        switch event.identity {
        case .given(let id):
            // The ring gives each id once; a repeated one means that the program has damaged the
            // ring.
            if given.updateValue(interval, forKey: id) == nil { openCount += 1 }
        case .chosen(let id):
            chosen[Key(id: id, label: event.label), default: []].append(interval)
            openCount += 1
        }
    }

    private mutating func takeOpen(_ event: SignpostEvent) -> Interval? {
        let interval: Interval?
        switch event.identity {
        case .given(let id):
            interval = given.removeValue(forKey: id)
        case .chosen(let id):
            let key = Key(id: id, label: event.label)
            interval = chosen[key]?.popLast()
            if chosen[key]?.isEmpty == true { chosen[key] = nil }
        }
        if interval != nil { openCount -= 1 }
        return interval
    }

    private mutating func kept(_ result: Result) -> Result? {
        guard results < limit else {
            counts.unkept &+= 1
            return nil
        }
        results += 1
        return result
    }
}
