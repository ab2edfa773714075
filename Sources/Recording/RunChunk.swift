import ProfileModel

/// Runs of one thread that follow each other without a gap, as a row of the file holds them: a few
/// bytes each, where a row would take thirty.
///
/// Each is a number, its length in nanoseconds times four plus its state less one; after one of
/// state running comes another, its core plus one, or 0 where that is not known. Numbers are LEB128:
/// seven bits a byte, the lowest first, the top bit set in all but the last.
struct RunChunk {
    let thread: ThreadIndex
    let start: MonotonicTime
    private(set) var end: MonotonicTime
    private(set) var bytes: [UInt8] = []

    /// So that a recorder that is killed loses little.
    private static let mostBytes = 2048

    init(beginningWith run: ScheduledRun) {
        thread = run.thread
        start = run.start
        end = run.start
        add(run)
    }

    /// false: it does not follow, or there is no room.
    mutating func append(_ run: ScheduledRun) -> Bool {
        guard run.start == end, bytes.count < Self.mostBytes else { return false }
        add(run)
        return true
    }

    private mutating func add(_ run: ScheduledRun) {
        let length = UInt64(clamping: (run.end - run.start).nanoseconds)
        LEB128.append(length << 2 | UInt64(run.state.rawValue - 1), to: &bytes)
        if run.state == .running {
            LEB128.append(run.core.map { UInt64(clamping: $0) + 1 } ?? 0, to: &bytes)
        }
        end = run.end
    }

    // MARK: Reading

    /// nil: these are no such bytes.
    static func runs(
        of thread: ThreadIndex, from start: MonotonicTime, _ bytes: [UInt8]
    ) -> [ScheduledRun]? {
        var (reader, time) = (LEB128Reader(bytes), start)
        var result: [ScheduledRun] = []
        while !reader.isAtEnd {
            guard let number = reader.number(),
                let state = ThreadState(rawValue: UInt8(number & 3) + 1)
            else { return nil }
            var core: Int32?
            if state == .running {
                guard let stored = reader.number(), stored <= UInt64(Int32.max) else {
                    return nil
                }
                core = stored == 0 ? nil : Int32(stored - 1)
            }
            let end = time + TimeSpan(nanoseconds: Int64(number >> 2))
            result.append(
                ScheduledRun(thread: thread, start: time, end: end, state: state, core: core))
            time = end
        }
        return result.isEmpty ? nil : result
    }
}
