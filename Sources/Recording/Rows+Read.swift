import ProfileModel

extension TableReader {
    /// The whole recording. Tables that others refer to are read first.
    mutating func recording() throws(ReadFailure) -> Recording {
        var recording = try shortTables()
        recording.slices = try slices()
        recording.waits = try waits()
        recording.runs = try runs()
        recording.wakeups = try wakeups()
        return recording
    }

    /// All addresses that need a name: without slices, runs and wake-ups, and with one wait for
    /// each thread and place.
    mutating func addresses() throws(ReadFailure) -> Recording {
        var recording = try shortTables()
        recording.waits = try placedWaits()
        return recording
    }

    /// All tables except the long ones with many rows per second.
    private mutating func shortTables() throws(ReadFailure) -> Recording {
        var recording = Recording(header: try header())
        recording.notes = try notes()
        recording.children = try children()
        try readImages(into: &recording)
        try readMarks(into: &recording)
        recording.threads = try threads()
        recording.modules = try modules()
        recording.mappings = try mappings()
        recording.stacks = try stacks()
        recording.libraries = try libraries()
        recording.initializers = try initializers()
        recording.intervals = try intervals()
        recording.signposts = try signposts()
        recording.ready = try ready()
        recording.priorities = try priorities()
        recording.symbols = try symbols()
        try readReferences(into: &recording.libraries)
        return recording
    }

    private mutating func header() throws(ReadFailure) -> Recording.Header {
        var found: Recording.Header?
        try scan(Schema.header) { row, _ throws(ReadFailure) in
            guard row.number == 0 else {
                throw .inconsistency(row.problem("more than one header"))
            }
            found = try Self.header(&row)
        }
        guard let header = found else {
            throw .inconsistency(Inconsistency(table: "header", row: 0, problem: "is missing"))
        }
        return header
    }

    private static func header(_ row: inout Row) throws(ReadFailure) -> Recording.Header {
        guard let capture = CaptureMethod(rawValue: try row.text(3)) else { throw row.invalid(3) }
        var header = Recording.Header(
            pid: try row.integer(1), isAttached: try row.bool(2), capture: capture,
            frequency: try row.integer(4))
        header.ticks = try row.integer(5)
        header.missedTicks = try row.integer(6)
        header.lateness = try row.span(7)
        header.lostSamples = try row.integer(8)
        header.heldByProfiler = try row.span(9)
        let outcome = Recording.Outcome(
            storedName: try row.optionalText(10), value: try row.optional(11))
        guard let outcome else { throw row.invalid(10) }
        header.outcome = outcome
        header.recorderVersion = try row.text(12)
        if let account = try row.optionalText(13) {
            header.account = SchedulerAccount(rawValue: account)
            if header.account == nil { throw row.invalid(13) }
        }
        header.importSource = try row.optionalText(14) ?? ""
        try admit { () throws(Inconsistency) in try Consistency.check(header) }
        return header
    }

    private mutating func notes() throws(ReadFailure) -> [RecorderNote] {
        var notes: [RecorderNote] = []
        try scan(Schema.notes) { row, rules throws(ReadFailure) in
            guard let kind = RecorderNote.Kind(rawValue: try row.text(1)) else {
                throw row.invalid(1)
            }
            let note = RecorderNote(kind, try row.integer(2))
            try Self.admit { () throws(Inconsistency) in try rules.admit(note) }
            notes.append(note)
        }
        return notes
    }

    private mutating func children() throws(ReadFailure) -> [ChildProcess] {
        var children: [ChildProcess] = []
        try scan(Schema.children) { row, rules throws(ReadFailure) in
            let child = try Self.child(&row)
            try Self.admit { () throws(Inconsistency) in try rules.admit(child) }
            children.append(child)
        }
        return children
    }

    private static func child(_ row: inout Row) throws(ReadFailure) -> ChildProcess {
        let outcome = Recording.Outcome(
            storedName: try row.optionalText(7), value: try row.optional(8))
        guard let outcome else { throw row.invalid(7) }
        let (end, cpu): (Int64?, Int64?) = (try row.optional(5), try row.optional(6))
        let stored = try row.addedText(11)
        let capture = stored.flatMap(CaptureMethod.init(rawValue:))
        if stored != nil, capture == nil { throw row.invalid(11) }
        return ChildProcess(
            pid: try row.integer(1), parent: try row.integer(2), parentIndex: try row.child(10),
            name: try row.text(3), start: try row.time(4),
            end: end.map(MonotonicTime.init(nanoseconds:)),
            cpu: cpu.map(TimeSpan.init(nanoseconds:)), outcome: outcome, capture: capture,
            file: try row.optionalText(9))
    }

    private mutating func readImages(into recording: inout Recording) throws(ReadFailure) {
        var images: [(image: Image, child: ChildIndex?)] = []
        try scan(Schema.images) { row, rules throws(ReadFailure) in
            let image = Image(path: try row.text(1), arguments: [], time: try row.time(2))
            let child = try row.child(3)
            try Self.admit { () throws(Inconsistency) in try rules.admit(image, of: child) }
            images.append((image, child))
        }
        try scan(Schema.arguments) { row, _ throws(ReadFailure) in
            let index: Int = try row.integer(1)
            guard images.indices.contains(index) else { throw row.invalid(1) }
            images[index].image.arguments.append(try row.text(2))
        }
        for (image, child) in images {
            if let child {
                recording.children[child.rawValue].images.append(image)
            } else {
                recording.images.append(image)
            }
        }
    }

    private mutating func readMarks(into recording: inout Recording) throws(ReadFailure) {
        var (marks, children) = (recording.borders, recording.children)
        try scan(Schema.marks) { row, rules throws(ReadFailure) in
            guard let kind = LaunchBorder.Kind(rawValue: try row.integer(1)) else {
                throw row.invalid(1)
            }
            let counters = ProcessCounters(
                minorFaults: try row.optional(3), majorFaults: try row.optional(4),
                readBytes: try row.optional(5))
            let mark = LaunchBorder(kind: kind, time: try row.time(2), counters: counters)
            let child = try row.child(6)
            try Self.admit { () throws(Inconsistency) in try rules.admit(mark, of: child) }
            if let child {
                children[child.rawValue].borders.append(mark)
            } else {
                marks.append(mark)
            }
        }
        (recording.borders, recording.children) = (marks, children)
    }

    private mutating func threads() throws(ReadFailure) -> [RecordedThread] {
        var threads: [RecordedThread] = []
        try scan(Schema.threads) { row, rules throws(ReadFailure) in
            let end: Int64? = try row.optional(4)
            let thread = RecordedThread(
                tid: try row.integer(1), name: try row.text(2), start: try row.time(3),
                end: end.map(MonotonicTime.init(nanoseconds:)), isMain: try row.bool(5),
                child: try row.child(6))
            try Self.admit { () throws(Inconsistency) in try rules.admit(thread) }
            threads.append(thread)
        }
        return threads
    }

    private mutating func modules() throws(ReadFailure) -> [Module] {
        var modules: [Module] = []
        try scan(Schema.modules) { row, rules throws(ReadFailure) in
            let module = Module(path: try row.text(1), buildID: try row.blob(2))
            rules.admit(module)
            modules.append(module)
        }
        return modules
    }

    private mutating func mappings() throws(ReadFailure) -> [Mapping] {
        var mappings: [Mapping] = []
        try scan(Schema.mappings) { row, rules throws(ReadFailure) in
            let mapping = Mapping(
                start: try row.bits(1), end: try row.bits(2), bias: try row.bits(3),
                module: ModuleIndex(try row.integer(4)), time: try row.time(5),
                child: try row.child(6))
            try Self.admit { () throws(Inconsistency) in try rules.admit(mapping) }
            mappings.append(mapping)
        }
        return mappings
    }

    private mutating func stacks() throws(ReadFailure) -> StackTable {
        var table = StackTable()
        try scan(Schema.stacks) { row, rules throws(ReadFailure) in
            let parent: Int32? = try row.optional(1)
            let node = StackTable.Node(
                parent: parent.map(StackID.init), frame: try row.frame(2))
            try Self.admit { () throws(Inconsistency) in try rules.admit(node) }
            let id = table.intern(parent: node.parent, frame: node.frame)
            guard Int(id.rawValue) == row.number else {
                throw .inconsistency(row.problem("repeats an earlier stack"))
            }
        }
        return table
    }

    private mutating func slices() throws(ReadFailure) -> [Slice] {
        var slices: [Slice] = []
        slices.reserveCapacity(try expectedRows(of: Schema.slices))
        try scan(Schema.slices) { row, rules throws(ReadFailure) in
            let slice = try Self.slice(row)
            try Self.admit { () throws(Inconsistency) in try rules.admit(slice) }
            slices.append(slice)
        }
        return slices
    }

    private static func slice(_ row: Row) throws(ReadFailure) -> Slice {
        var truncation: Truncation?
        if let stored = try row.optional(9) as UInt8? {
            truncation = Truncation(rawValue: stored)
            if truncation == nil { throw row.invalid(9) }
        }
        let times = StateTimes(
            running: try row.span(3), runnable: try row.span(4), preempted: try row.span(5),
            blocked: try row.span(6))
        let stack: Int32? = try row.optional(7)
        return Slice(
            thread: ThreadIndex(try row.integer(1)), start: try row.time(2), times: times,
            stack: stack.map(StackID.init), systemCall: try row.optional(8),
            truncation: truncation)
    }
}
