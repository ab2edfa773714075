extension RecordingFile {
    /// The recording at `path` as a file with plain SQL tables. Returns the file's bytes; it can be
    /// read as a recording, too.
    package static func unpacked(_ path: String) throws(RecordingError) -> [UInt8] {
        // Loading reports all errors, as for any reader.
        _ = try RecordingReader.load(path: path)
        let target = try Database(inMemoryFor: path)
        defer { target.close() }
        try target.execute("BEGIN")
        try target.create(Schema.plainTables, of: .recording)
        var room = Self.mostPlainBytes
        let tables = [HeaderTable.self] + Schema.packed as [any Table.Type]
        for table in tables {
            let insertion = try target.prepare(table.layout.insertion)
            try TableReader.read(path, .recording) { reader throws(ReadFailure) in
                try reader.copy(table, to: insertion, room: &room)
            }
        }
        guard room >= 0 else {
            throw .refused(path: path, detail: "as plain tables it is larger than 1 GiB")
        }
        try target.execute("COMMIT")
        return try target.contents()
    }

    /// For texts and blobs. A text that is packed once may be in very many rows.
    private static let mostPlainBytes = 1 << 30
}

/// A value as SQLite stores it.
private enum StoredValue {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    var size: Int {
        switch self {
        case .null: 1
        case .integer: 8
        case .text(let text): text.utf8.count
        case .blob(let bytes): bytes.count
        }
    }
}

extension TableReader {
    /// Copies all of a table's rows unchanged, as long as there is room.
    fileprivate mutating func copy<T: Table>(
        _: T.Type, to insertion: Statement, room: inout Int
    ) throws(ReadFailure) {
        let kinds = T.layout.columns.map(\.kind)
        try scan(T.self) { row, _ throws(ReadFailure) in
            guard room >= 0 else { return }
            var values = [StoredValue.integer(Int64(row.number))]
            for (index, kind) in kinds.enumerated() {
                guard let value = row.value(Int32(index) + 1, kind) else {
                    throw row.problem("a value is not valid")
                }
                values.append(value)
            }
            room -= values.reduce(0) { $0 + $1.size }
            do throws(SQLiteFailure) {
                try insertion.insert(values)
            } catch {
                throw ReadFailure.failure(error)
            }
        }
    }
}

extension Row {
    /// nil: it is of another kind.
    fileprivate mutating func value(_ column: Int32, _ kind: ColumnKind) -> StoredValue? {
        if isNull(column) { return .null }
        return switch kind {
        case .integer: integer(column).map { .integer($0) }
        case .text: text(column).map { .text($0) }
        case .blob: blob(column).map { .blob($0) }
        }
    }
}

extension Statement {
    fileprivate func insert(_ values: [StoredValue]) throws(SQLiteFailure) {
        for (index, value) in values.enumerated() {
            let place = Int32(index) + 1
            switch value {
            case .null: try bind(place, nil as Int64?)
            case .integer(let number): try bind(place, number)
            case .text(let text): try bind(place, text)
            case .blob(let bytes): try bind(place, bytes)
            }
        }
        try run()
    }
}
