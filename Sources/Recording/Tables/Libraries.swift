package import ProfileModel

/// Loads of libraries.
enum LibrariesTable: Int32, RecordingTable {
    case path = 1, file, start, wall, size, requestedBy, caller, isInitial, child

    static let tableName = "libraries"
    static let layout = TableLayout(Self.self)

    var column: Column {
        switch self {
        case .path: .text("path")
        case .file: .text("file").orNull()
        case .start: .integer("start_ns")
        case .wall: .integer("wall_ns").orNull()
        case .size: .integer("size")
        case .requestedBy: .text("requested_by").orNull()
        case .caller: .integer("caller").orNull()
        case .isInitial: .integer("initial")
        case .child: .integer("child").orNull()
        }
    }

    static func write(
        _ library: LibraryLoad, to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.set(.path, library.path)
        try row.set(.file, library.file)
        try row.set(.start, library.start)
        try row.set(.wall, library.wall)
        try row.set(.size, library.size)
        try row.set(.requestedBy, library.requestedBy)
        try row.set(.caller, library.caller)
        try row.set(.isInitial, library.isInitial)
        try row.set(.child, library.child)
    }

    static func read(_ row: inout Row<Self>) throws(ReadFailure) -> LibraryLoad {
        LibraryLoad(
            path: try row.text(.path), start: try row.integer(.start),
            wall: try row.optional(.wall), size: try row.integer(.size),
            requestedBy: try row.optionalText(.requestedBy), caller: try row.optional(.caller),
            isInitial: try row.integer(.isInitial), file: try row.optionalText(.file),
            child: try row.optional(.child))
    }

    static func admit(
        _ library: LibraryLoad, at row: RowPlace, by rules: inout Consistency
    ) throws(Inconsistency) {
        try rules.check(library.start, row)
        let latest = Consistency.latest
        guard 0...(latest - library.start.nanoseconds) ~= library.wall?.nanoseconds ?? 0 else {
            throw row.problem("a time out of range")
        }
        guard 0...latest ~= library.size else { throw row.problem("its size is out of range") }
        try rules.check(library.caller, row)
        try rules.check(library.child, row)
    }

    static func load(
        _ recording: inout Recording, from reader: inout TableReader
    ) throws(ReadFailure) {
        recording.libraries = try reader.values(of: Self.self)
    }

    static func save(_ recording: Recording, to writer: RecordingWriter) throws(RecordingError) {
        for library in recording.libraries { try writer.append(library) }
    }
}

/// Whether anything refers to a library, as symbolication found.
enum LibraryReferencesTable: Int32, UnruledTable {
    case library = 1, isReferenced

    static let tableName = "library_references"
    static let layout = TableLayout(Self.self)

    var column: Column {
        switch self {
        case .library: .integer("library")
        case .isReferenced: .integer("referenced")
        }
    }

    static func write(
        _ reference: (library: Int, isReferenced: Bool),
        to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.set(.library, reference.library)
        try row.set(.isReferenced, reference.isReferenced)
    }

    static func read(_ row: inout Row<Self>) throws(ReadFailure) -> (
        library: Int, isReferenced: Bool
    ) {
        (try row.integer(.library), try row.integer(.isReferenced))
    }

    static func load(
        _ recording: inout Recording, from reader: inout TableReader
    ) throws(ReadFailure) {
        try reader.scanValues(Self.self) { value, row throws(ReadFailure) in
            let (library, isReferenced) = value
            guard recording.libraries.indices.contains(library),
                recording.libraries[library].isReferenced == nil
            else { throw row.invalid(.library) }
            recording.libraries[library].isReferenced = isReferenced
        }
    }
}

extension RecordingWriter {
    /// The load's caller must have been appended before, as for slices.
    package func append(_ library: LibraryLoad) throws(RecordingError) {
        try append(library, to: rows.libraries)
    }
}
