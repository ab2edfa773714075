import ProfileModel

/// One row: the measurement as a whole.
enum MeasurementTable: Table {
    static let tableName = "measurement"
    static let layout = TableLayout(Self.self)

    static var blank: Measurement.Header {
        Measurement.Header(
            requested: 0, versionName: nil, recorderVersion: "", date: 0)
    }

    static func visit<V: ColumnVisitor>(
        _ header: inout Measurement.Header, by columns: inout V
    ) throws(V.Failure) {
        try columns.integer("requested", &header.requested)
        try columns.text("version_name", &header.versionName)
        try columns.text("recorder_version", &header.recorderVersion)
        try columns.integer("date_ns", &header.date)
        try columns.word("ending", &header.ending)
    }
}
