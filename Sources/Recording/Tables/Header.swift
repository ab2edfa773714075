import ProfileModel

/// One row: the recorded process, and how it was recorded. Never packed.
enum HeaderTable: Table {
    static let tableName = "header"
    static let layout = TableLayout(Self.self)

    static var blank: Recording.Header {
        Recording.Header(pid: 0, isAttached: false, capture: .untraced, frequency: 0)
    }

    static func visit<V: ColumnVisitor>(
        _ header: inout Recording.Header, by columns: inout V
    ) throws(V.Failure) {
        try columns.integer("pid", &header.pid)
        try columns.integer("attached", &header.isAttached)
        try columns.word("capture", &header.capture)
        try columns.integer("frequency", &header.frequency)
        try columns.integer("ticks", &header.ticks)
        try columns.integer("missed_ticks", &header.missedTicks)
        try columns.integer("samples", &header.samples)
        try columns.integer("missed_samples", &header.missedSamples)
        try columns.integer("lateness_ns", &header.lateness)
        try columns.integer("lost_samples", &header.lostSamples)
        try columns.integer("held_ns", &header.heldByProfiler)
        try columns.outcome(&header.outcome)
        try columns.text("recorder_version", &header.recorderVersion)
        try columns.word("account", &header.account)
        var source = header.importSource.isEmpty ? nil : header.importSource
        try columns.text("source", &source)
        header.importSource = source ?? ""
    }

    static func check(_ header: Recording.Header) throws(Inconsistency) {
        let fields: [(name: String, Int64)] = [
            ("pid", Int64(header.pid)), ("frequency", Int64(header.frequency)),
            ("ticks", header.ticks), ("missed_ticks", header.missedTicks),
            ("samples", header.samples), ("missed_samples", header.missedSamples),
            ("lateness_ns", header.lateness.nanoseconds), ("lost_samples", header.lostSamples),
            ("held_ns", header.heldByProfiler.nanoseconds),
        ]
        for (field, value) in fields where !(0...Consistency.latest ~= value) {
            throw RowPlace(table: tableName, row: 0).problem("\(field) is out of range")
        }
    }
}

extension TableReader {
    mutating func header() throws(ReadFailure) -> Recording.Header {
        let header = try only(HeaderTable.self)
        try Self.admit { () throws(Inconsistency) in try HeaderTable.check(header) }
        return header
    }
}
