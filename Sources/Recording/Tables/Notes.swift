package import ProfileModel

/// The recorder's notes on its own work.
enum NotesTable: ListTable {
    static let tableName = "notes"
    static let layout = TableLayout(Self.self)

    static var list: WritableKeyPath<Recording, [RecorderNote]> { \.notes }
    static var rows: KeyPath<WaitingRows, TableRows<Self>> { \.notes }

    static var blank: RecorderNote { RecorderNote(.lostSignposts) }

    static func visit<V: ColumnVisitor>(
        _ note: inout RecorderNote, by columns: inout V
    ) throws(V.Failure) {
        try columns.word("kind", &note.kind)
        try columns.integer("value", &note.value)
    }

    static func admit(
        _ note: RecorderNote, at row: RowPlace, by rules: inout Consistency
    ) throws(Inconsistency) {
        guard 0...Consistency.latest ~= note.value else {
            throw row.problem("a value out of range")
        }
        guard rules.noteKinds.insert(note.kind).inserted else {
            throw row.problem("repeats an earlier kind")
        }
    }
}

extension RecordingWriter {
    package func append(_ note: RecorderNote) throws(RecordingError) {
        try append(note, to: rows.notes)
    }
}
