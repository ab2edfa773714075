package import ProfileModel

/// Writes a recording file while the recording goes on.
///
/// What was appended is safe after the next ``commit()``: even if this process is killed, the file
/// can be read up to there. The file is locked against other processes until ``finish(_:)``, so
/// that none can delay the recorder. Use it from one thread at a time.
///
/// The first error ends the writing: uncommitted data are dropped, and every later call throws the
/// same error. Values that no reader would accept are refused, see ``Consistency``.
package final class RecordingWriter {
    private let file: FileWriter
    private let header: Statement
    let rows: WaitingRows
    private var symbols: SymbolRows
    var rules = Consistency()
    /// The rows of the reasons that were written.
    var waitReasons: [WaitReason: Int] = [:]
    private var argumentCount = 0
    /// New or changed values since the last commit, by row. Most change several times before a
    /// commit, and are then written only once.
    private var changedChildren: [Int: ChildProcess] = [:]
    private var changedThreads: [Int: RecordedThread] = [:]
    /// Each thread's runs that are not written yet, and the number of rows with runs.
    var openRuns: [ThreadIndex: RunChunk] = [:]
    var runRows = 0

    /// Creates the file, readable only by its owner (mode 0600), with the tables and the header.
    /// The file must not exist: see ``RecordingFile/keepOlder(at:)``.
    package init(creating path: String, header: Recording.Header) throws(RecordingError) {
        try Consistency.attempt(path) { () throws(Inconsistency) in try Consistency.check(header) }
        file = try FileWriter(creating: path, .recording) { database throws(RecordingError) in
            let insertion = try database.prepare(Schema.header.insertion)
            try database.attempt { () throws(SQLiteFailure) in try insertion.write(header) }
        }
        (self.header, rows) = try file.prepare { database throws(RecordingError) in
            // The header changes during the recording.
            (try database.prepare(Schema.header.replacement), try WaitingRows(database))
        }
        symbols = SymbolRows(strings: rows.string, symbols: rows.symbol)
    }

    /// The identity of the file that was created, even if another one is at its path by now.
    package var identity: RecordingFile.Identity? { file.identity }

    /// Makes everything appended so far permanent. Takes ~30 µs, plus the time to write the changed
    /// pages.
    package func commit() throws(RecordingError) {
        try flush()
        try file.commit()
    }

    private func flush() throws(RecordingError) {
        try flushRuns()
        try write { () throws(SQLiteFailure) in
            for (row, child) in changedChildren.sorted(by: { $0.key < $1.key }) {
                try rows.child.write(child, row: row)
            }
            for (row, thread) in changedThreads.sorted(by: { $0.key < $1.key }) {
                try rows.thread.write(thread, row: row)
            }
            for table in rows.all { try table.flush() }
        }
        changedChildren.removeAll(keepingCapacity: true)
        changedThreads.removeAll(keepingCapacity: true)
    }

    /// Writes the final header, commits, and closes the file.
    package func finish(_ header: Recording.Header) throws(RecordingError) {
        try check { () throws(Inconsistency) in try Consistency.check(header) }
        try flush()
        try write { () throws(SQLiteFailure) in
            try self.header.write(header)
        }
        try file.end()
    }
}

// MARK: - Errors

extension RecordingWriter {
    func check(_ body: () throws(Inconsistency) -> Void) throws(RecordingError) {
        try file.check(body)
    }

    func write(_ body: () throws(SQLiteFailure) -> Void) throws(RecordingError) {
        try file.write(body)
    }
}

// MARK: - Appending

extension RecordingWriter {
    package func append(_ note: RecorderNote) throws(RecordingError) {
        let row = rules.notes
        try check { () throws(Inconsistency) in try rules.admit(note) }
        try write { () throws(SQLiteFailure) in try rows.note.write(note, row: row) }
    }

    /// Appends a child without its images and marks, which must be appended one by one. Returns the
    /// child's position in the recording's list.
    @discardableResult
    package func append(_ child: ChildProcess) throws(RecordingError) -> ChildIndex {
        let row = rules.children
        try check { () throws(Inconsistency) in try rules.admit(child) }
        changedChildren[row] = child
        return ChildIndex(row)
    }

    /// Replaces a child's data: it executed another program, or it ended.
    package func update(
        _ child: ChildProcess, at index: ChildIndex
    ) throws(RecordingError) {
        try check { () throws(Inconsistency) in try rules.checkUpdate(child, at: index) }
        changedChildren[index.rawValue] = child
    }

    /// - Parameter child: the child that ran it; nil: the recorded process.
    package func append(
        _ image: Image, of child: ChildIndex? = nil
    ) throws(RecordingError) {
        let row = rules.images
        try check { () throws(Inconsistency) in try rules.admit(image, of: child) }
        try write { () throws(SQLiteFailure) in
            try rows.image.write(image, of: child, row: row)
            for argument in image.arguments {
                try rows.argument.write(argument, image: row, row: argumentCount)
                argumentCount += 1
            }
        }
    }

    /// - Parameter child: the child that it belongs to; nil: the recorded process.
    package func append(
        _ mark: LaunchBorder, of child: ChildIndex? = nil
    ) throws(RecordingError) {
        let row = rules.marks
        try check { () throws(Inconsistency) in try rules.admit(mark, of: child) }
        try write { () throws(SQLiteFailure) in
            try rows.mark.write(mark, of: child, row: row)
        }
    }

    /// Returns the thread's position in the recording's list.
    @discardableResult
    package func append(_ thread: RecordedThread) throws(RecordingError) -> ThreadIndex {
        let row = rules.threads
        try check { () throws(Inconsistency) in try rules.admit(thread) }
        changedThreads[row] = thread
        return ThreadIndex(row)
    }

    /// Replaces a thread's data: its name changed, or it ended.
    package func update(
        _ thread: RecordedThread, at index: ThreadIndex
    ) throws(RecordingError) {
        try check { () throws(Inconsistency) in try rules.checkUpdate(thread, at: index) }
        changedThreads[index.rawValue] = thread
    }

    /// Returns the module's position in the recording's list.
    @discardableResult
    package func append(_ module: Module) throws(RecordingError) -> ModuleIndex {
        let row = rules.modules
        try check { () throws(Inconsistency) in rules.admit(module) }
        try write { () throws(SQLiteFailure) in try rows.module.write(module, row: row) }
        return ModuleIndex(row)
    }

    /// Appends the meaning of a frame whose function has no address, because it cannot be found
    /// later. Call it once for each, after the frame's module.
    package func append(
        _ function: SourceFrame, at frame: FrameAddress
    ) throws(RecordingError) {
        try check { () throws(Inconsistency) in
            try rules.check(frame.module, Schema.symbols.name, symbols.count)
        }
        try write { () throws(SQLiteFailure) in try symbols.write(function, at: frame, 0) }
    }

    package func append(_ mapping: Mapping) throws(RecordingError) {
        let row = rules.mappings
        try check { () throws(Inconsistency) in try rules.admit(mapping) }
        try write { () throws(SQLiteFailure) in try rows.mapping.write(mapping, row: row) }
    }

    /// Appends the table's nodes that were not appended yet. Call it before the slices that refer
    /// to them. The table must always be the same one, which only grows.
    package func append(newNodesOf table: StackTable) throws(RecordingError) {
        let nodes = table.nodes
        while rules.stacks < nodes.count {
            let row = rules.stacks
            let node = nodes[row]
            try check { () throws(Inconsistency) in try rules.admit(node) }
            try write { () throws(SQLiteFailure) in try rows.stack.write(node, row: row) }
        }
    }

    /// The slices of a thread must come in the order of their time. Does not allocate.
    package func append(_ slice: Slice) throws(RecordingError) {
        let row = rules.slices
        try check { () throws(Inconsistency) in try rules.admit(slice) }
        try write { () throws(SQLiteFailure) in try rows.slice.write(slice, row: row) }
    }
}
