package import ProfileModel

/// Loads of libraries.
enum LibrariesTable: ListTable {
    static let tableName = "libraries"
    static let layout = TableLayout(Self.self)

    static var list: WritableKeyPath<Recording, [LibraryLoad]> { \.libraries }
    static var rows: KeyPath<WaitingRows, TableRows<Self>> { \.libraries }

    static var blank: LibraryLoad {
        LibraryLoad(path: "", start: .blank, size: 0, isInitial: false)
    }

    static func visit<V: ColumnVisitor>(
        _ library: inout LibraryLoad, by columns: inout V
    ) throws(V.Failure) {
        try columns.text("path", &library.path)
        try columns.text("file", &library.file)
        try columns.integer("start_ns", &library.start)
        try columns.integer("wall_ns", &library.wall)
        try columns.integer("size", &library.size)
        try columns.text("requested_by", &library.requestedBy)
        try columns.integer("caller", &library.caller)
        try columns.integer("initial", &library.isInitial)
        try columns.integer("child", &library.child)
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
}

/// Whether anything refers to a library, as symbolication found.
enum LibraryReferencesTable: UnruledTable {
    static let tableName = "library_references"
    static let layout = TableLayout(Self.self)

    static var blank: (library: Int, isReferenced: Bool) { (0, false) }

    static func visit<V: ColumnVisitor>(
        _ reference: inout (library: Int, isReferenced: Bool), by columns: inout V
    ) throws(V.Failure) {
        try columns.integer("library", &reference.library)
        try columns.integer("referenced", &reference.isReferenced)
    }

    static func load(
        _ recording: inout Recording, from reader: inout TableReader
    ) throws(ReadFailure) {
        try reader.scanValues(Self.self) { value, row throws(ReadFailure) in
            let (library, isReferenced) = value
            guard recording.libraries.indices.contains(library),
                recording.libraries[library].isReferenced == nil
            else { throw row.invalid("library") }
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
