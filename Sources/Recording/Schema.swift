/// The layout of a recording file, version 9: the list of its tables, each of which is in a file of
/// its own in `Tables`. `docs/recording-format.md` explains every column.
///
/// The rows of all tables except the header are packed, many in one row of ``ChunksTable``, see
/// ``PackedRows``; up to version 6 they were plain SQL rows.
enum Schema {
    /// SQLite's `application_id`: "FLGT".
    static let applicationID: Int32 = 0x464C_4754
    /// SQLite's `user_version`. Increased when a reader of an older version would misread a file.
    static let version: Int32 = 9
    /// The first version with packed rows.
    static let firstPacked: Int32 = 7
    /// The first version that is still read.
    static let oldest: Int32 = 5

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

    /// The plain SQL tables in a file with this version.
    static func tables(asOf version: Int32) -> [TableLayout] {
        let tables =
            version < firstPacked
            ? packed.filter { $0.first <= version }.map { $0.layout } : [ChunksTable.layout]
        return ([HeaderTable.layout] + tables).map { $0.asOf(version) }
    }
}
