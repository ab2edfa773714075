import ProfileModel

/// One row: the recorded process, and how it was recorded. Never packed.
enum HeaderTable: Int32, ReadableTable {
    case pid = 1, isAttached, capture, frequency, ticks, missedTicks, samples, missedSamples,
        lateness, lostSamples, held,
        outcome, outcomeValue, recorderVersion, account, source

    static let tableName = "header"
    static let layout = TableLayout(Self.self)

    var column: Column {
        switch self {
        case .pid: .integer("pid")
        case .isAttached: .integer("attached")
        case .capture: .text("capture")
        case .frequency: .integer("frequency")
        case .ticks: .integer("ticks")
        case .missedTicks: .integer("missed_ticks")
        case .samples: .integer("samples")
        case .missedSamples: .integer("missed_samples")
        case .lateness: .integer("lateness_ns")
        case .lostSamples: .integer("lost_samples")
        case .held: .integer("held_ns")
        case .outcome: .text("outcome").orNull()
        case .outcomeValue: .integer("outcome_value").orNull()
        case .recorderVersion: .text("recorder_version")
        case .account: .text("account").orNull()
        case .source: .text("source").orNull()
        }
    }

    static func write(
        _ header: Recording.Header, to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.set(.pid, header.pid)
        try row.set(.isAttached, header.isAttached)
        try row.set(.capture, header.capture.rawValue)
        try row.set(.frequency, header.frequency)
        try row.set(.ticks, header.ticks)
        try row.set(.missedTicks, header.missedTicks)
        try row.set(.samples, header.samples)
        try row.set(.missedSamples, header.missedSamples)
        try row.set(.lateness, header.lateness)
        try row.set(.lostSamples, header.lostSamples)
        try row.set(.held, header.heldByProfiler)
        try row.set(.outcome, .outcomeValue, header.outcome)
        try row.set(.recorderVersion, header.recorderVersion)
        try row.set(.account, header.account?.rawValue)
        try row.set(.source, header.importSource.isEmpty ? nil : header.importSource)
    }

    static func read(_ row: inout Row<Self>) throws(ReadFailure) -> Recording.Header {
        var header = Recording.Header(
            pid: try row.integer(.pid), isAttached: try row.integer(.isAttached),
            capture: try row.word(.capture), frequency: try row.integer(.frequency))
        header.ticks = try row.integer(.ticks)
        header.missedTicks = try row.integer(.missedTicks)
        header.samples = try row.integer(.samples)
        header.missedSamples = try row.integer(.missedSamples)
        header.lateness = try row.integer(.lateness)
        header.lostSamples = try row.integer(.lostSamples)
        header.heldByProfiler = try row.integer(.held)
        header.outcome = try row.outcome(.outcome, .outcomeValue)
        header.recorderVersion = try row.text(.recorderVersion)
        header.account = try row.optionalWord(.account)
        header.importSource = try row.optionalText(.source) ?? ""
        return header
    }

    static func check(_ header: Recording.Header) throws(Inconsistency) {
        let fields: [(Self, Int64)] = [
            (.pid, Int64(header.pid)), (.frequency, Int64(header.frequency)),
            (.ticks, header.ticks), (.missedTicks, header.missedTicks),
            (.samples, header.samples), (.missedSamples, header.missedSamples),
            (.lateness, header.lateness.nanoseconds), (.lostSamples, header.lostSamples),
            (.held, header.heldByProfiler.nanoseconds),
        ]
        for (field, value) in fields where !(0...Consistency.latest ~= value) {
            throw RowPlace(table: tableName, row: 0).problem("\(field.column.name) is out of range")
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
