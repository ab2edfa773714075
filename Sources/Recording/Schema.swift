/// The layout of a recording file: the list of its tables, each of which is in a file of its own in
/// `Tables`. `docs/recording-format.md` explains every column.
///
/// The rows of all tables except the header are packed, many in one row of ``ChunksTable``, see
/// ``PackedRows``.
enum Schema {
    /// SQLite's `application_id`: "FLGT".
    static let applicationID: Int32 = 0x464C_4754
    /// SQLite's `user_version`. Increased when a reader of an older version would misread a file.
    static let version: Int32 = 1

    /// The packed tables. Tables that other tables refer to come first.
    static let packed: [any RecordingTable.Type] = [
        NotesTable.self, ChildrenTable.self, ImagesTable.self, ArgumentsTable.self,
        LaunchBordersTable.self, ThreadsTable.self, ModulesTable.self, MappingsTable.self,
        StacksTable.self, SlicesTable.self, LibrariesTable.self, InitializersTable.self,
        IntervalsTable.self, SignpostsTable.self, ReadyTable.self, WaitReasonsTable.self,
        WaitsTable.self, PrioritiesTable.self, RunsTable.self, WakeupsTable.self,
        StringsTable.self, SymbolsTable.self, ModuleSymbolsTable.self, ModuleRemarksTable.self,
        LibraryReferencesTable.self,
    ]

    /// The SQL tables in a file with packed rows: a recorder's.
    static let tables = [HeaderTable.layout, ChunksTable.layout]
    /// The SQL tables in a file with plain rows: see ``RecordingFile/unpacked(_:)``.
    static let plainTables = [HeaderTable.layout] + packed.map { $0.layout }
}
