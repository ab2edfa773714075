import ProfileModel

/// Contiguous runs of one thread, as one row of the file: a few bytes per run, while a row of its
/// own would take thirty.
///
/// Each run is a number: its length in nanoseconds times four, plus its state less one. A run in
/// the state running is followed by another number: its core plus one, or 0 if the core is unknown.
/// Numbers are LEB128: seven bits per byte, the lowest first, the top bit set in all but the last
/// byte.
struct RunChunk {
    let thread: ThreadIndex
    let start: MonotonicTime
    private(set) var end: MonotonicTime
    private(set) var bytes: [UInt8] = []

    /// A small limit, so that little is lost if the recorder is killed.
    private static let mostBytes = 2048

    init(beginningWith run: ScheduledRun) {
        thread = run.thread
        start = run.start
        end = run.start
        add(run)
    }

    /// false: the run is not contiguous, or there is no room.
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

    /// nil: the bytes are invalid.
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
