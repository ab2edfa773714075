import ProfileModel

/// What is wrong with a value: "slices, row 17: overlaps the one before".
struct Inconsistency: Error {
    var table: String
    var row: Int
    var problem: String

    var detail: String { "\(table), row \(row): \(problem)" }
}

/// The rules of every recording, checked value by value in the order of the file. The writer checks
/// them, so that it never makes an unreadable file. The reader checks them, because anybody may
/// have made the file. A recording that passes has no index out of range, no cycle, and no times
/// whose sums overflow.
struct Consistency {
    /// Moments and lengths are at most 2⁶⁰ ns: 36 years since boot.
    static let latest: Int64 = 1 << 60

    var notes: Int { noteKinds.count }
    private var noteKinds: Set<RecorderNote.Kind> = []
    var children = 0
    private(set) var images = 0
    private(set) var marks = 0
    private(set) var modules = 0
    private(set) var mappings = 0
    private(set) var stacks = 0
    private(set) var slices = 0
    var libraries = 0
    var initializers = 0
    var intervals = 0
    var signposts = 0
    var readinesses = 0
    var waitReasons = 0
    var waits = 0
    var priorities = 0
    private(set) var runs = 0
    var wakeups = 0
    /// For each thread, the end of its last slice.
    private var threadEnds: [Int64] = []
    /// For each thread, the end of its last run.
    private var runEnds: [Int64] = []
    /// The total wall time of all slices.
    private var totalWall: Int64 = 0

    var threads: Int { threadEnds.count }

    static func check(_ header: Recording.Header) throws(Inconsistency) {
        let fields: [(String, Int64)] = [
            ("pid", Int64(header.pid)), ("frequency", Int64(header.frequency)),
            ("ticks", header.ticks), ("missed_ticks", header.missedTicks),
            ("lateness_ns", header.lateness.nanoseconds), ("lost_samples", header.lostSamples),
            ("held_ns", header.heldByProfiler.nanoseconds),
        ]
        for (name, value) in fields where value < 0 || value > latest {
            throw Inconsistency(table: "header", row: 0, problem: "\(name) is out of range")
        }
    }

    mutating func admit(_ note: RecorderNote) throws(Inconsistency) {
        guard 0...Self.latest ~= note.value else {
            throw Inconsistency(table: "notes", row: notes, problem: "a value out of range")
        }
        guard noteKinds.insert(note.kind).inserted else {
            throw Inconsistency(table: "notes", row: notes, problem: "repeats an earlier kind")
        }
    }

    mutating func admit(_ image: Image, of child: ChildIndex?) throws(Inconsistency) {
        try check(image.time, "images", images)
        try check(child, "images", images)
        images += 1
    }

    mutating func admit(_ mark: LaunchBorder, of child: ChildIndex?) throws(Inconsistency) {
        try check(mark.time, "marks", marks)
        try check(child, "marks", marks)
        let counters = mark.counters
        for value in [counters.minorFaults, counters.majorFaults, counters.readBytes] {
            guard let value, value < 0 else { continue }
            throw Inconsistency(table: "marks", row: marks, problem: "a negative counter")
        }
        marks += 1
    }

    mutating func admit(_ thread: RecordedThread) throws(Inconsistency) {
        try check(thread, row: threads)
        threadEnds.append(0)
        runEnds.append(0)
    }

    /// A changed version of a thread that was admitted before.
    func checkUpdate(_ thread: RecordedThread, at index: ThreadIndex) throws(Inconsistency) {
        guard 0..<threads ~= index.rawValue else {
            throw Inconsistency(table: "threads", row: index.rawValue, problem: "does not exist")
        }
        try check(thread, row: index.rawValue)
    }

    private func check(_ thread: RecordedThread, row: Int) throws(Inconsistency) {
        try check(thread.start, "threads", row)
        try check(thread.end ?? thread.start, "threads", row)
        try check(thread.child, "threads", row)
        guard thread.tid >= 0 else {
            throw Inconsistency(table: "threads", row: row, problem: "a negative thread id")
        }
        guard thread.start <= thread.end ?? thread.start else {
            throw Inconsistency(table: "threads", row: row, problem: "ends before it starts")
        }
    }

    mutating func admit(_: Module) {
        modules += 1
    }

    mutating func admit(_ mapping: Mapping) throws(Inconsistency) {
        try check(mapping.time, "mappings", mappings)
        try check(mapping.module, "mappings", mappings)
        try check(mapping.child, "mappings", mappings)
        guard mapping.start < mapping.end else {
            throw Inconsistency(table: "mappings", row: mappings, problem: "an empty range")
        }
        mappings += 1
    }

    mutating func admit(_ node: StackTable.Node) throws(Inconsistency) {
        try check(node.frame.module, "stacks", stacks)
        if let parent = node.parent?.rawValue, !(0..<stacks ~= Int(parent)) {
            throw Inconsistency(
                table: "stacks", row: stacks, problem: "its parent does not precede it")
        }
        guard stacks < Int32.max else {
            throw Inconsistency(table: "stacks", row: stacks, problem: "too many stacks")
        }
        stacks += 1
    }

    mutating func admit(_ slice: Slice) throws(Inconsistency) {
        let thread = slice.thread.rawValue
        guard threadEnds.indices.contains(thread) else { throw sliceProblem("no such thread") }
        if let stack = slice.stack?.rawValue, !(0..<stacks ~= Int(stack)) {
            throw sliceProblem("no such stack")
        }
        if let call = slice.systemCall, call < -1 {
            throw sliceProblem("no such system call")
        }
        let start = slice.start.nanoseconds
        let wall = try wall(of: slice.times)
        guard 0...Self.latest ~= start, wall <= Self.latest - start else {
            throw sliceProblem("a time out of range")
        }
        guard start >= threadEnds[thread] else { throw sliceProblem("overlaps the one before") }
        let (total, overflow) = totalWall.addingReportingOverflow(wall)
        guard !overflow else { throw sliceProblem("too much time in all") }
        totalWall = total
        threadEnds[thread] = start + wall
        slices += 1
    }

    mutating func admit(_ run: ScheduledRun, row: Int) throws(Inconsistency) {
        let thread = run.thread.rawValue
        guard runEnds.indices.contains(thread) else { throw problem("no such thread", ofRun: row) }
        guard run.start < run.end, run.end.nanoseconds <= Self.latest else {
            throw problem("a time out of range", ofRun: row)
        }
        guard run.start.nanoseconds >= runEnds[thread] else {
            throw problem("overlaps the one before", ofRun: row)
        }
        guard run.core ?? 0 >= 0, run.core == nil || run.state == .running else {
            throw problem("no such core", ofRun: row)
        }
        guard runs < Self.mostRuns else { throw problem("too many runs", ofRun: row) }
        runEnds[thread] = run.end.nanoseconds
        runs += 1
    }

    /// A small file could hold very many runs.
    private static let mostRuns = 5_000_000

    /// Not inlined, to keep the hot path short: the text is made only for an error.
    @inline(never)
    private func problem(_ problem: String, ofRun row: Int) -> Inconsistency {
        Inconsistency(table: "runs", row: row, problem: problem)
    }

    private func wall(of times: StateTimes) throws(Inconsistency) -> Int64 {
        let range = 0...Self.latest
        guard range ~= times.running.nanoseconds, range ~= times.runnable.nanoseconds,
            range ~= times.preempted.nanoseconds, range ~= times.blocked.nanoseconds
        else { throw sliceProblem("a time out of range") }
        return times.wall.nanoseconds
    }

    /// Not inlined, to keep the hot path short: the text is made only for an error.
    @inline(never)
    private func sliceProblem(_ problem: String) -> Inconsistency {
        Inconsistency(table: "slices", row: slices, problem: problem)
    }

    func check(_ time: MonotonicTime, _ table: String, _ row: Int) throws(Inconsistency) {
        guard 0...Self.latest ~= time.nanoseconds else {
            throw Inconsistency(table: table, row: row, problem: "a time out of range")
        }
    }

    /// nil is a frame outside every module.
    func check(_ module: ModuleIndex?, _ table: String, _ row: Int) throws(Inconsistency) {
        guard let index = module?.rawValue, !(0..<modules ~= index) else { return }
        throw Inconsistency(table: table, row: row, problem: "no such module")
    }
}
