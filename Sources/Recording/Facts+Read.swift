import ProfileModel

extension TableReader {
    mutating func libraries() throws(ReadFailure) -> [LibraryLoad] {
        var libraries: [LibraryLoad] = []
        try scan(Schema.libraries) { row, rules throws(ReadFailure) in
            let wall: Int64? = try row.optional(4)
            let caller: Int32? = try row.optional(7)
            let library = LibraryLoad(
                path: try row.text(1), start: try row.time(3),
                wall: wall.map(TimeSpan.init(nanoseconds:)), size: try row.integer(5),
                requestedBy: try row.optionalText(6), caller: caller.map(StackID.init),
                isInitial: try row.bool(8), file: try row.optionalText(2), child: try row.child(9))
            try Self.admit { () throws(Inconsistency) in try rules.admit(library) }
            libraries.append(library)
        }
        return libraries
    }

    mutating func initializers() throws(ReadFailure) -> [InitializerRun] {
        var initializers: [InitializerRun] = []
        try scan(Schema.initializers) { row, rules throws(ReadFailure) in
            let initializer = InitializerRun(
                function: StackID(try row.integer(1)), thread: ThreadIndex(try row.integer(2)),
                start: try row.time(3), end: try row.time(4), cpu: try row.span(5),
                isComplete: try row.bool(6))
            try Self.admit { () throws(Inconsistency) in try rules.admit(initializer) }
            initializers.append(initializer)
        }
        return initializers
    }

    mutating func intervals() throws(ReadFailure) -> [Interval] {
        var intervals: [Interval] = []
        try scan(Schema.intervals) { row, rules throws(ReadFailure) in
            let thread: Int? = try row.optional(4)
            let interval = Interval(
                name: try row.text(1), category: try row.text(2), subsystem: try row.text(3),
                thread: thread.map(ThreadIndex.init), start: try row.time(5),
                end: try row.time(6), isComplete: try row.bool(7), child: try row.child(8))
            try Self.admit { () throws(Inconsistency) in try rules.admit(interval) }
            intervals.append(interval)
        }
        return intervals
    }

    mutating func signposts() throws(ReadFailure) -> [Signpost] {
        var signposts: [Signpost] = []
        try scan(Schema.signposts) { row, rules throws(ReadFailure) in
            let thread: Int? = try row.optional(4)
            let signpost = Signpost(
                name: try row.text(1), category: try row.text(2), subsystem: try row.text(3),
                thread: thread.map(ThreadIndex.init), time: try row.time(5),
                child: try row.child(6))
            try Self.admit { () throws(Inconsistency) in try rules.admit(signpost) }
            signposts.append(signpost)
        }
        return signposts
    }

    mutating func ready() throws(ReadFailure) -> Readiness? {
        var ready: Readiness?
        try scan(Schema.ready) { row, rules throws(ReadFailure) in
            let found = Readiness(time: try row.time(1), by: try row.text(2))
            try Self.admit { () throws(Inconsistency) in try rules.admit(found) }
            ready = found
        }
        return ready
    }
}
