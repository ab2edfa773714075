import ProfileModel

/// The waiting rows of a ``RecordingWriter``, by table.
struct WaitingRows {
    let note: PackedRows
    let child: PackedRows
    let image: PackedRows
    let argument: PackedRows
    let mark: PackedRows
    let thread: PackedRows
    let module: PackedRows
    let mapping: PackedRows
    let stack: PackedRows
    let slice: PackedRows
    let library: PackedRows
    let initializer: PackedRows
    let interval: PackedRows
    let signpost: PackedRows
    let ready: PackedRows
    let waitReason: PackedRows
    let wait: PackedRows
    let priority: PackedRows
    let run: PackedRows
    let wakeup: PackedRows
    let string: PackedRows
    let symbol: PackedRows

    init(_ database: Database) throws(RecordingError) {
        let chunks = try ChunkWriter(database)
        note = PackedRows(Schema.notes, chunks)
        child = PackedRows(Schema.children, chunks)
        image = PackedRows(Schema.images, chunks)
        argument = PackedRows(Schema.arguments, chunks)
        mark = PackedRows(Schema.marks, chunks)
        thread = PackedRows(Schema.threads, chunks)
        module = PackedRows(Schema.modules, chunks)
        mapping = PackedRows(Schema.mappings, chunks)
        stack = PackedRows(Schema.stacks, chunks)
        slice = PackedRows(Schema.slices, chunks)
        library = PackedRows(Schema.libraries, chunks)
        initializer = PackedRows(Schema.initializers, chunks)
        interval = PackedRows(Schema.intervals, chunks)
        signpost = PackedRows(Schema.signposts, chunks)
        ready = PackedRows(Schema.ready, chunks)
        waitReason = PackedRows(Schema.waitReasons, chunks)
        wait = PackedRows(Schema.waits, chunks)
        priority = PackedRows(Schema.priorities, chunks)
        run = PackedRows(Schema.runs, chunks)
        wakeup = PackedRows(Schema.wakeups, chunks)
        string = PackedRows(Schema.strings, chunks)
        symbol = PackedRows(Schema.symbols, chunks)
    }

    /// Tables that others refer to come first.
    var all: [PackedRows] {
        [
            note, child, image, argument, mark, thread, module, mapping, stack, slice, library,
            initializer, interval, signpost, ready, waitReason, wait, priority, run, wakeup,
            string, symbol,
        ]
    }
}

extension RowTarget {
    /// NULL: the recorded process.
    func bind(_ index: Int32, _ child: ChildIndex?) throws(SQLiteFailure) {
        try bind(index, child.map { Int64($0.rawValue) })
    }
}

/// One row per value; values are bound in the order of the columns in ``Schema``.
extension RowTarget {
    func write(_ header: Recording.Header) throws(SQLiteFailure) {
        let (outcome, value) = header.outcome.stored
        try bind(1, 0 as Int64)
        try bind(2, Int64(header.pid))
        try bind(3, header.isAttached)
        try bind(4, header.capture.rawValue)
        try bind(5, Int64(header.frequency))
        try bind(6, header.ticks)
        try bind(7, header.missedTicks)
        try bind(8, header.lateness.nanoseconds)
        try bind(9, header.lostSamples)
        try bind(10, header.heldByProfiler.nanoseconds)
        try bind(11, outcome)
        try bind(12, value)
        try bind(13, header.recorderVersion)
        try bind(14, header.account?.rawValue)
        try bind(15, header.importSource.isEmpty ? nil : header.importSource)
        try run()
    }

    func write(_ note: RecorderNote, row: Int) throws(SQLiteFailure) {
        try bind(1, row)
        try bind(2, note.kind.rawValue)
        try bind(3, note.value)
        try run()
    }

    func write(_ child: ChildProcess, row: Int) throws(SQLiteFailure) {
        let (outcome, value) = child.outcome.stored
        try bind(1, row)
        try bind(2, Int64(child.pid))
        try bind(3, Int64(child.parent))
        try bind(4, child.name)
        try bind(5, child.start.nanoseconds)
        try bind(6, child.end?.nanoseconds)
        try bind(7, child.cpu?.nanoseconds)
        try bind(8, outcome)
        try bind(9, value)
        try bind(10, child.file)
        try bind(11, child.parentIndex)
        try bind(12, child.capture?.rawValue)
        try run()
    }

    func write(_ image: Image, of child: ChildIndex?, row: Int) throws(SQLiteFailure) {
        try bind(1, row)
        try bind(2, image.path)
        try bind(3, image.time.nanoseconds)
        try bind(4, child)
        try run()
    }

    func write(_ argument: String, image: Int, row: Int) throws(SQLiteFailure) {
        try bind(1, row)
        try bind(2, image)
        try bind(3, argument)
        try run()
    }

    func write(_ mark: LaunchBorder, of child: ChildIndex?, row: Int) throws(SQLiteFailure) {
        try bind(1, row)
        try bind(2, Int64(mark.kind.rawValue))
        try bind(3, mark.time.nanoseconds)
        try bind(4, mark.counters.minorFaults)
        try bind(5, mark.counters.majorFaults)
        try bind(6, mark.counters.readBytes)
        try bind(7, child)
        try run()
    }

    func write(_ thread: RecordedThread, row: Int) throws(SQLiteFailure) {
        try bind(1, row)
        try bind(2, Int64(thread.tid))
        try bind(3, thread.name)
        try bind(4, thread.start.nanoseconds)
        try bind(5, thread.end?.nanoseconds)
        try bind(6, thread.isMain)
        try bind(7, thread.child)
        try run()
    }

    func write(_ module: Module, row: Int) throws(SQLiteFailure) {
        try bind(1, row)
        try bind(2, module.path)
        try bind(3, module.buildID)
        try run()
    }

    func write(_ mapping: Mapping, row: Int) throws(SQLiteFailure) {
        try bind(1, row)
        try bind(2, bits: mapping.start)
        try bind(3, bits: mapping.end)
        try bind(4, bits: mapping.bias)
        try bind(5, mapping.module.rawValue)
        try bind(6, mapping.time.nanoseconds)
        try bind(7, mapping.child)
        try run()
    }

    func write(_ node: StackTable.Node, row: Int) throws(SQLiteFailure) {
        try bind(1, row)
        try bind(2, node.parent.map { Int64($0.rawValue) })
        try bind(3, node.frame.module.map { Int64($0.rawValue) })
        try bind(4, bits: node.frame.address.value)
        try bind(5, Int64(node.frame.address.kind.rawValue))
        try run()
    }

    func write(_ slice: Slice, row: Int) throws(SQLiteFailure) {
        try bind(1, row)
        try bind(2, slice.thread.rawValue)
        try bind(3, slice.start.nanoseconds)
        try bind(4, slice.times.running.nanoseconds)
        try bind(5, slice.times.runnable.nanoseconds)
        try bind(6, slice.times.preempted.nanoseconds)
        try bind(7, slice.times.blocked.nanoseconds)
        try bind(8, slice.stack.map { Int64($0.rawValue) })
        try bind(9, slice.systemCall.map { Int64($0) })
        try bind(10, slice.truncation.map { Int64($0.rawValue) })
        try run()
    }
}

extension Recording.Outcome {
    /// The values of the columns `outcome` and `outcome_value`; both NULL if the outcome is
    /// unknown.
    var stored: (name: String?, value: Int64?) {
        switch self {
        case .exited(let status): ("exited", Int64(status))
        case .signalled(let signal): ("signalled", Int64(signal))
        case .running: ("running", nil)
        case .unknown: (nil, nil)
        }
    }

    /// nil for a pair that ``stored`` never gives.
    init?(storedName name: String?, value: Int64?) {
        switch (name, value.map { Int32(exactly: $0) }) {
        case ("exited", .some(.some(let status))): self = .exited(status)
        case ("signalled", .some(.some(let signal))): self = .signalled(signal)
        case ("running", .none): self = .running
        case (.none, .none): self = .unknown
        default: return nil
        }
    }
}
