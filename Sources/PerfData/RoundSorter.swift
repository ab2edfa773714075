import ProfileModel

/// Puts records into the order of their times. perf writes what the cores' buffers hold one
/// after the other, and says after each round that nothing older than the round before can come.
struct RoundSorter {
    private struct Pending {
        var time: MonotonicTime
        /// Of what happened at one time, what came first is first.
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

    /// Rounds are a few MiB each; a file without any must not fill the memory.
    static let usualLimit = 64 << 20

    init(limit: Int = usualLimit) { self.limit = limit }

    mutating func add(_ record: PerfRecord) {
        // What has no time holds from the beginning.
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

    /// The next in order, as far as that is known; nil: more must be added before.
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
