package import ProfileModel

/// The recorder's notes on its own work.
enum NotesTable: Int32, RecordingTable {
    case kind = 1, value

    static let tableName = "notes"
    static let layout = TableLayout(Self.self)

    var column: Column {
        switch self {
        case .kind: .text("kind")
        case .value: .integer("value")
        }
    }

    static func write(
        _ note: RecorderNote, to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.set(.kind, note.kind.rawValue)
        try row.set(.value, note.value)
    }

    static func read(_ row: inout Row<Self>) throws(ReadFailure) -> RecorderNote {
        RecorderNote(try row.word(.kind), try row.integer(.value))
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

    static func load(
        _ recording: inout Recording, from reader: inout TableReader
    ) throws(ReadFailure) {
        recording.notes = try reader.values(of: Self.self)
    }

    static func save(_ recording: Recording, to writer: RecordingWriter) throws(RecordingError) {
        for note in recording.notes { try writer.append(note) }
    }
}

extension RecordingWriter {
    package func append(_ note: RecorderNote) throws(RecordingError) {
        try append(note, to: rows.notes)
    }
}
