import ProfileModel

/// One row: the measurement as a whole.
enum MeasurementTable: Int32, ReadableTable {
    case requested = 1, versionName, recorderVersion, date, ending

    static let tableName = "measurement"
    static let layout = TableLayout(Self.self)

    var column: Column {
        switch self {
        case .requested: .integer("requested")
        case .versionName: .text("version_name").orNull()
        case .recorderVersion: .text("recorder_version")
        case .date: .integer("date_ns")
        case .ending: .text("ending")
        }
    }

    static func write(
        _ header: Measurement.Header, to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.set(.requested, header.requested)
        try row.set(.versionName, header.versionName)
        try row.set(.recorderVersion, header.recorderVersion)
        try row.set(.date, header.date)
        try row.set(.ending, header.ending.rawValue)
    }

    static func read(_ row: inout Row<Self>) throws(ReadFailure) -> Measurement.Header {
        var header = Measurement.Header(
            requested: try row.integer(.requested),
            versionName: try row.optionalText(.versionName),
            recorderVersion: try row.text(.recorderVersion), date: try row.integer(.date))
        header.ending = try row.word(.ending)
        return header
    }
}
