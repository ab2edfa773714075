package import ProfileModel

/// As ``IntervalsTable``, for single moments.
enum SignpostsTable: ListTable {
    static let tableName = "signposts"
    static let layout = TableLayout(Self.self)

    static var list: WritableKeyPath<Recording, [Signpost]> { \.signposts }
    static var rows: KeyPath<WaitingRows, TableRows<Self>> { \.signposts }

    static var blank: Signpost { Signpost(name: "", category: "", thread: nil, time: .blank) }

    static func visit<V: ColumnVisitor>(
        _ signpost: inout Signpost, by columns: inout V
    ) throws(V.Failure) {
        try columns.label(&signpost)
        try columns.integer("time_ns", &signpost.time)
        try columns.integer("child", &signpost.child)
    }

    static func admit(
        _ signpost: Signpost, at row: RowPlace, by rules: inout Consistency
    ) throws(Inconsistency) {
        try rules.checkLabel(of: signpost, row)
        try rules.check(signpost.time, row)
    }
}

extension RecordingWriter {
    package func append(_ signpost: Signpost) throws(RecordingError) {
        try append(signpost, to: rows.signposts)
    }
}
