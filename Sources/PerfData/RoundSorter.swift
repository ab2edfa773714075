import ProfileModel

/// Sorts records by their times. perf writes the cores' buffers one after another. After each round
/// it guarantees that nothing older than the previous round will come.
struct RoundSorter {
    private struct Pending {
        var time: MonotonicTime
        /// For equal times, the order in which they came.
        var order: UInt64
        var record: PerfRecord
    }

    private var pending: [Pending] = []
    private var pendingSize = 0
    private var order: UInt64 = 0
    private var latest: MonotonicTime?
    private var latestOfRoundBefore: MonotonicTime?
    private var ready: [PerfRecord] = []
    private var readyPosition = 0
    private let limit: Int

    /// Rounds have a few MiB each; a file without rounds must not fill the memory.
    static let usualLimit = 64 << 20

    init(limit: Int = usualLimit) { self.limit = limit }

    mutating func add(_ record: PerfRecord) {
        // A record without a time holds from the beginning.
        guard let time = record.time else {
            ready.append(record)
            return
        }
        pending.append(Pending(time: time, order: order, record: record))
        order &+= 1
        pendingSize += record.size
        latest = max(latest ?? time, time)
        if pendingSize > limit { flushHalf() }
    }

    mutating func finishRound() {
        if let limit = latestOfRoundBefore { flush { $0.time <= limit } }
        latestOfRoundBefore = latest
    }

    mutating func finish() { flush { _ in true } }

    /// The next record in order, if it is certain; nil: more records must be added first.
    mutating func next() -> PerfRecord? {
        guard readyPosition < ready.count else {
            ready.removeAll(keepingCapacity: true)
            readyPosition = 0
            return nil
        }
        defer { readyPosition += 1 }
        return ready[readyPosition]
    }

    private mutating func flushHalf() {
        let times = pending.map(\.time).sorted()
        let middle = times[times.count / 2]
        flush { $0.time <= middle }
    }

    private mutating func flush(_ isDue: (Pending) -> Bool) {
        var due: [Pending] = []
        var rest: [Pending] = []
        pendingSize = 0
        for entry in pending {
            if isDue(entry) {
                due.append(entry)
            } else {
                pendingSize += entry.record.size
                rest.append(entry)
            }
        }
        pending = rest
        due.sort { ($0.time, $0.order) < ($1.time, $1.order) }
        for entry in due { ready.append(entry.record) }
    }
}
