import ProfileModel

/// The rules of libraries, initialisers, intervals, signposts and readiness.
extension Consistency {
    mutating func admit(_ library: LibraryLoad) throws(Inconsistency) {
        let (table, row) = ("libraries", libraries)
        try check(library.start, table, row)
        guard 0...(Self.latest - library.start.nanoseconds) ~= library.wall?.nanoseconds ?? 0
        else { throw Inconsistency(table: table, row: row, problem: "a time out of range") }
        guard 0...Self.latest ~= library.size else {
            throw Inconsistency(table: table, row: row, problem: "its size is out of range")
        }
        if let caller = library.caller { try check(caller, table, row) }
        try check(library.child, table, row)
        libraries += 1
    }

    mutating func admit(_ initializer: InitializerRun) throws(Inconsistency) {
        let (table, row) = ("initializers", initializers)
        try check(initializer.function, table, row)
        try check(initializer.thread, table, row)
        try check(initializer.start, initializer.end, table, row)
        guard 0...Self.latest ~= initializer.cpu.nanoseconds else {
            throw Inconsistency(table: table, row: row, problem: "a time out of range")
        }
        initializers += 1
    }

    mutating func admit(_ interval: Interval) throws(Inconsistency) {
        if let thread = interval.thread { try check(thread, "intervals", intervals) }
        try check(interval.start, interval.end, "intervals", intervals)
        try check(interval.child, "intervals", intervals)
        intervals += 1
    }

    mutating func admit(_ signpost: Signpost) throws(Inconsistency) {
        if let thread = signpost.thread { try check(thread, "signposts", signposts) }
        try check(signpost.time, "signposts", signposts)
        try check(signpost.child, "signposts", signposts)
        signposts += 1
    }

    mutating func admit(_ ready: Readiness) throws(Inconsistency) {
        guard readinesses == 0 else {
            throw Inconsistency(table: "ready", row: readinesses, problem: "ready twice")
        }
        try check(ready.time, "ready", readinesses)
        readinesses += 1
    }

    func check(
        _ start: MonotonicTime, _ end: MonotonicTime, _ table: String, _ row: Int
    ) throws(Inconsistency) {
        try check(start, table, row)
        try check(end, table, row)
        guard start <= end else {
            throw Inconsistency(table: table, row: row, problem: "ends before it starts")
        }
    }

    func check(
        _ thread: ThreadIndex, _ table: String, _ row: Int
    ) throws(Inconsistency) {
        guard 0..<threads ~= thread.rawValue else {
            throw Inconsistency(table: table, row: row, problem: "no such thread")
        }
    }

    func check(_ stack: StackID, _ table: String, _ row: Int) throws(Inconsistency) {
        guard 0..<stacks ~= Int(stack.rawValue) else {
            throw Inconsistency(table: table, row: row, problem: "no such stack")
        }
    }
}
