import ProfileModel

/// A value that breaks a rule: "slices, row 17: overlaps the previous one".
struct Inconsistency: Error {
    var table: String
    var row: Int
    var problem: String

    var detail: String { "\(table), row \(row): \(problem)" }
}

/// The facts about earlier rows that the rules of every recording need. The rules themselves are
/// beside the tables, see ``RecordingTable/admit(_:at:by:)``, and are checked value by value in the
/// order of the file. The writer checks them, so that it never makes an unreadable file. The reader
/// checks them, because the file may come from any source. A recording that passes has no index out
/// of range, no cycle, and no times whose sums overflow.
struct Consistency {
    /// Moments and lengths are at most 2⁶⁰ ns: 36 years since boot.
    static let latest: Int64 = 1 << 60

    var noteKinds: Set<RecorderNote.Kind> = []
    var children = 0
    var modules = 0
    var stacks = 0
    /// For each thread, the end of its last slice.
    var threadEnds: [Int64] = []
    /// For each thread, the end of its last run.
    var runEnds: [Int64] = []
    /// The total wall time of all slices.
    var totalWall: Int64 = 0
    var runs = 0

    var threads: Int { threadEnds.count }

    func check(_ time: MonotonicTime, _ row: RowPlace) throws(Inconsistency) {
        guard 0...Self.latest ~= time.nanoseconds else {
            throw row.problem("a time out of range")
        }
    }

    func check(
        _ start: MonotonicTime, _ end: MonotonicTime, _ row: RowPlace
    ) throws(Inconsistency) {
        try check(start, row)
        try check(end, row)
        guard start <= end else { throw row.problem("ends before it starts") }
    }

    /// nil is a frame outside every module.
    func check(_ module: ModuleIndex?, _ row: RowPlace) throws(Inconsistency) {
        guard let index = module?.rawValue, !(0..<modules ~= index) else { return }
        throw row.problem("no such module")
    }

    /// nil is the recorded process.
    func check(_ child: ChildIndex?, _ row: RowPlace) throws(Inconsistency) {
        guard let index = child?.rawValue, !(0..<children ~= index) else { return }
        throw row.problem("no such child")
    }

    /// nil: none.
    func check(_ thread: ThreadIndex?, _ row: RowPlace) throws(Inconsistency) {
        guard let index = thread?.rawValue, !(0..<threads ~= index) else { return }
        throw row.problem("no such thread")
    }

    /// nil: none.
    func check(_ stack: StackID?, _ row: RowPlace) throws(Inconsistency) {
        guard let index = stack?.rawValue, !(0..<stacks ~= Int(index)) else { return }
        throw row.problem("no such stack")
    }
}
