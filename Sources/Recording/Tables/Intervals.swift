package import ProfileModel

/// Programs' reports of their own work, by signposts: intervals.
enum IntervalsTable: ListTable {
    static let tableName = "intervals"
    static let layout = TableLayout(Self.self)

    static var list: WritableKeyPath<Recording, [Interval]> { \.intervals }
    static var rows: KeyPath<WaitingRows, TableRows<Self>> { \.intervals }

    static var blank: Interval {
        Interval(name: "", category: "", thread: nil, start: .blank, end: .blank)
    }

    static func visit<V: ColumnVisitor>(
        _ interval: inout Interval, by columns: inout V
    ) throws(V.Failure) {
        try columns.label(&interval)
        try columns.integer("start_ns", &interval.start)
        try columns.integer("end_ns", &interval.end)
        try columns.integer("complete", &interval.isComplete)
        try columns.integer("child", &interval.child)
    }

    static func admit(
        _ interval: Interval, at row: RowPlace, by rules: inout Consistency
    ) throws(Inconsistency) {
        try rules.checkLabel(of: interval, row)
        try rules.check(interval.start, interval.end, row)
    }
}

extension RecordingWriter {
    package func append(_ interval: Interval) throws(RecordingError) {
        try append(interval, to: rows.intervals)
    }
}
