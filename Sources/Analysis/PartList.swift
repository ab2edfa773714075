import ProfileModel

/// A profile's parts. There may be millions of them. Nearly all are shorter than four seconds, and
/// take only the memory that this needs.
struct PartList: Sendable {
    private struct Row {
        var start: TimeSpan
        var phase: Int32
        var thread: Int32
        var line: Int32
        var waitLine: Int32
        var running: UInt32
        var runnable: UInt32
        var preempted: UInt32
        var blocked: UInt32
    }

    private var rows: [Row] = []
    /// The times of longer parts. Their rows have ``isLong`` instead of the time running, and the
    /// position in this list instead of the time runnable.
    private var longTimes: [StateTimes] = []

    private static let isLong = UInt32.max

    init() {}

    init(_ parts: some Sequence<Profile.Part>) {
        for part in parts { append(part) }
    }

    mutating func reserveCapacity(_ count: Int) { rows.reserveCapacity(count) }

    mutating func append(_ part: Profile.Part) {
        var row = Row(
            start: part.start, phase: part.phase, thread: part.thread, line: part.line,
            waitLine: part.waitLine, running: Self.isLong, runnable: 0, preempted: 0, blocked: 0)
        let times = part.times
        if let running = UInt32(exactly: times.running.nanoseconds), running != Self.isLong,
            let runnable = UInt32(exactly: times.runnable.nanoseconds),
            let preempted = UInt32(exactly: times.preempted.nanoseconds),
            let blocked = UInt32(exactly: times.blocked.nanoseconds)
        {
            (row.running, row.runnable) = (running, runnable)
            (row.preempted, row.blocked) = (preempted, blocked)
        } else {
            row.runnable = UInt32(truncatingIfNeeded: longTimes.count)
            longTimes.append(times)
        }
        rows.append(row)
    }
}

extension PartList: RandomAccessCollection {
    var startIndex: Int { 0 }
    var endIndex: Int { rows.count }

    subscript(position: Int) -> Profile.Part {
        let row = rows[position]
        return Profile.Part(
            phase: row.phase, thread: row.thread, line: row.line, waitLine: row.waitLine,
            start: row.start, times: times(of: row))
    }

    private func times(of row: Row) -> StateTimes {
        if row.running == Self.isLong { return longTimes[Int(row.runnable)] }
        func span(_ nanoseconds: UInt32) -> TimeSpan { TimeSpan(nanoseconds: Int64(nanoseconds)) }
        return StateTimes(
            running: span(row.running), runnable: span(row.runnable),
            preempted: span(row.preempted), blocked: span(row.blocked))
    }
}
