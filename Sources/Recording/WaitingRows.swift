/// The waiting rows of a ``RecordingWriter``, by table.
struct WaitingRows {
    let notes: TableRows<NotesTable>
    let children: TableRows<ChildrenTable>
    let images: TableRows<ImagesTable>
    let arguments: TableRows<ArgumentsTable>
    let borders: TableRows<LaunchBordersTable>
    let threads: TableRows<ThreadsTable>
    let modules: TableRows<ModulesTable>
    let mappings: TableRows<MappingsTable>
    let stacks: TableRows<StacksTable>
    let slices: TableRows<SlicesTable>
    let libraries: TableRows<LibrariesTable>
    let initializers: TableRows<InitializersTable>
    let intervals: TableRows<IntervalsTable>
    let signposts: TableRows<SignpostsTable>
    let ready: TableRows<ReadyTable>
    let waitReasons: TableRows<WaitReasonsTable>
    let waits: TableRows<WaitsTable>
    let priorities: TableRows<PrioritiesTable>
    let runs: TableRows<RunsTable>
    let wakeups: TableRows<WakeupsTable>
    let strings: TableRows<StringsTable>
    let symbols: TableRows<SymbolsTable>
    /// Tables that other tables refer to come first.
    let all: [PackedRows]

    init(_ database: Database) throws(RecordingError) {
        let chunks = try ChunkWriter(database)
        var all: [PackedRows] = []
        func table<T: Table>() -> TableRows<T> {
            let rows = TableRows<T>(chunks)
            all.append(rows.waiting)
            return rows
        }
        (notes, children, images, arguments) = (table(), table(), table(), table())
        (borders, threads, modules, mappings) = (table(), table(), table(), table())
        (stacks, slices, libraries, initializers) = (table(), table(), table(), table())
        (intervals, signposts, ready, waitReasons) = (table(), table(), table(), table())
        (waits, priorities, runs, wakeups) = (table(), table(), table(), table())
        (strings, symbols) = (table(), table())
        self.all = all
    }
}
