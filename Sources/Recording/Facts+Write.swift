package import ProfileModel

/// One row per value; values are bound in the order of the columns in ``Schema``.
extension RowTarget {
    func write(_ library: LibraryLoad, row: Int) throws(SQLiteFailure) {
        try bind(1, row)
        try bind(2, library.path)
        try bind(3, library.file)
        try bind(4, library.start.nanoseconds)
        try bind(5, library.wall?.nanoseconds)
        try bind(6, library.size)
        try bind(7, library.requestedBy)
        try bind(8, library.caller.map { Int64($0.rawValue) })
        try bind(9, library.isInitial)
        try bind(10, library.child)
        try run()
    }

    func write(_ initializer: InitializerRun, row: Int) throws(SQLiteFailure) {
        try bind(1, row)
        try bind(2, Int64(initializer.function.rawValue))
        try bind(3, initializer.thread.rawValue)
        try bind(4, initializer.start.nanoseconds)
        try bind(5, initializer.end.nanoseconds)
        try bind(6, initializer.cpu.nanoseconds)
        try bind(7, initializer.isComplete)
        try run()
    }

    func write(_ interval: Interval, row: Int) throws(SQLiteFailure) {
        try bind(1, row)
        try bind(2, interval.name)
        try bind(3, interval.category)
        try bind(4, interval.subsystem)
        try bind(5, interval.thread.map { Int64($0.rawValue) })
        try bind(6, interval.start.nanoseconds)
        try bind(7, interval.end.nanoseconds)
        try bind(8, interval.isComplete)
        try bind(9, interval.child)
        try run()
    }

    func write(_ signpost: Signpost, row: Int) throws(SQLiteFailure) {
        try bind(1, row)
        try bind(2, signpost.name)
        try bind(3, signpost.category)
        try bind(4, signpost.subsystem)
        try bind(5, signpost.thread.map { Int64($0.rawValue) })
        try bind(6, signpost.time.nanoseconds)
        try bind(7, signpost.child)
        try run()
    }

    func write(_ ready: Readiness, row: Int) throws(SQLiteFailure) {
        try bind(1, row)
        try bind(2, ready.time.nanoseconds)
        try bind(3, ready.by)
        try run()
    }
}

extension RecordingWriter {
    /// The load's caller must have been appended before, as for slices.
    package func append(_ library: LibraryLoad) throws(RecordingError) {
        let row = rules.libraries
        try check { () throws(Inconsistency) in try rules.admit(library) }
        try write { () throws(SQLiteFailure) in try rows.library.write(library, row: row) }
    }

    /// The initialiser's function must have been appended before, as for slices.
    package func append(_ initializer: InitializerRun) throws(RecordingError) {
        let row = rules.initializers
        try check { () throws(Inconsistency) in try rules.admit(initializer) }
        try write { () throws(SQLiteFailure) in
            try rows.initializer.write(initializer, row: row)
        }
    }

    package func append(_ interval: Interval) throws(RecordingError) {
        let row = rules.intervals
        try check { () throws(Inconsistency) in try rules.admit(interval) }
        try write { () throws(SQLiteFailure) in try rows.interval.write(interval, row: row) }
    }

    package func append(_ signpost: Signpost) throws(RecordingError) {
        let row = rules.signposts
        try check { () throws(Inconsistency) in try rules.admit(signpost) }
        try write { () throws(SQLiteFailure) in try rows.signpost.write(signpost, row: row) }
    }

    /// Call it at most once.
    package func append(_ ready: Readiness) throws(RecordingError) {
        let row = rules.readinesses
        try check { () throws(Inconsistency) in try rules.admit(ready) }
        try write { () throws(SQLiteFailure) in try rows.ready.write(ready, row: row) }
    }
}
