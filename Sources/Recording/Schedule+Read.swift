import ProfileModel

extension TableReader {
    mutating func runs() throws(ReadFailure) -> ScheduledRuns {
        var runs = ScheduledRuns()
        try scan(Schema.runs) { row, rules throws(ReadFailure) in
            let thread = ThreadIndex(try row.integer(1))
            guard let chunk = RunChunk.runs(of: thread, from: try row.time(2), try row.blob(3))
            else { throw row.invalid(3) }
            let number = row.number
            for run in chunk {
                try Self.admit { () throws(Inconsistency) in try rules.admit(run, row: number) }
            }
            runs.append(chunk, of: thread)
        }
        return runs
    }

    mutating func wakeups() throws(ReadFailure) -> [Wakeup] {
        var wakeups: [Wakeup] = []
        wakeups.reserveCapacity(try expectedRows(of: Schema.wakeups))
        try scan(Schema.wakeups) { row, rules throws(ReadFailure) in
            let thread: Int? = try row.optional(5)
            let wakeup = Wakeup(
                thread: ThreadIndex(try row.integer(1)), time: try row.time(2),
                waker: try row.integer(3), wakerName: try row.text(4),
                wakerThread: thread.map(ThreadIndex.init), isInterrupt: try row.bool(6))
            try Self.admit { () throws(Inconsistency) in try rules.admit(wakeup) }
            wakeups.append(wakeup)
        }
        return wakeups
    }
}
