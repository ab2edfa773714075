package import ProfileModel

/// Why threads waited. Many waits have the same reason, so each is written once.
enum WaitReasonsTable: RecordingTable {
    static let tableName = "wait_reasons"
    static let layout = TableLayout(Self.self)

    static var blank: WaitReason { WaitReason(.lock) }

    static func visit<V: ColumnVisitor>(
        _ reason: inout WaitReason, by columns: inout V
    ) throws(V.Failure) {
        try columns.word("kind", &reason.kind)
        try columns.text("detail", &reason.detail)
        try columns.integer("owner", &reason.owner)
        try columns.integer("place", &reason.place)
    }

    static func admit(
        _ reason: WaitReason, at row: RowPlace, by rules: inout Consistency
    ) throws(Inconsistency) {
        guard reason.owner ?? 1 > 0 else { throw row.problem("its owner is no thread") }
    }
}

/// A wait with the row of its reason.
struct StoredWait {
    var thread: ThreadIndex
    var start: MonotonicTime
    var end: MonotonicTime
    var reason: Int
    var systemCall: Int32
    var stack: StackID?
}

/// The reasons of threads' waits, and their lengths.
enum WaitsTable: RecordingTable {
    static let tableName = "waits"
    static let layout = TableLayout(Self.self)
    static let isLong = true

    static var blank: StoredWait {
        StoredWait(
            thread: ThreadIndex(0), start: .blank, end: .blank, reason: 0, systemCall: 0)
    }

    static func visit<V: ColumnVisitor>(
        _ wait: inout StoredWait, by columns: inout V
    ) throws(V.Failure) {
        try columns.integer("thread", &wait.thread)
        try columns.integer("start_ns", &wait.start)
        try columns.integer("end_ns", &wait.end)
        try columns.integer("reason", &wait.reason)
        try columns.integer("system_call", &wait.systemCall)
        try columns.integer("stack", &wait.stack)
    }

    static func admit(
        _ wait: StoredWait, at row: RowPlace, by rules: inout Consistency
    ) throws(Inconsistency) {
        try rules.check(wait.thread, row)
        try rules.check(wait.start, wait.end, row)
        try rules.check(wait.stack, row)
        guard wait.systemCall >= -1 else { throw row.problem("no such system call") }
    }

    static func load(
        _ recording: inout Recording, from reader: inout TableReader
    ) throws(ReadFailure) {
        var waits: [Wait] = []
        waits.reserveCapacity(try reader.expectedRows(of: Self.self))
        try scan(&reader) { waits.append($0) }
        recording.waits = waits
    }

    /// The waits at addresses: only the first one for each thread and address.
    static func placed(from reader: inout TableReader) throws(ReadFailure) -> [Wait] {
        var waits: [Wait] = []
        var seen: [ThreadIndex: Set<UInt64>] = [:]
        try scan(&reader) { wait in
            guard let place = wait.reason.place,
                seen[wait.thread, default: []].insert(place).inserted
            else { return }
            waits.append(wait)
        }
        return waits
    }

    private static func scan(
        _ reader: inout TableReader, _ body: (Wait) -> Void
    ) throws(ReadFailure) {
        let reasons = try reader.values(of: WaitReasonsTable.self)
        try reader.scanValues(Self.self) { wait, row throws(ReadFailure) in
            guard reasons.indices.contains(wait.reason) else { throw row.invalid("reason") }
            body(
                Wait(
                    thread: wait.thread, start: wait.start, end: wait.end,
                    reason: reasons[wait.reason], systemCall: wait.systemCall,
                    stack: wait.stack))
        }
    }

    static func save(_ recording: Recording, to writer: RecordingWriter) throws(RecordingError) {
        for wait in recording.waits { try writer.append(wait) }
    }
}

extension RecordingWriter {
    /// The wait's stack must have been appended before, as for slices.
    package func append(_ wait: Wait) throws(RecordingError) {
        let stored = StoredWait(
            thread: wait.thread, start: wait.start, end: wait.end,
            reason: try position(of: wait.reason), systemCall: wait.systemCall,
            stack: wait.stack)
        try append(stored, to: rows.waits)
    }

    private func position(of reason: WaitReason) throws(RecordingError) -> Int {
        if let known = waitReasons[reason] { return known }
        let row = rows.waitReasons.count
        try append(reason, to: rows.waitReasons)
        waitReasons[reason] = row
        return row
    }
}
