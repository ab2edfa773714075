extension Store {
    /// Writes the files' rows. When it returns, all are in the tables. After an error the same files may
    /// be shipped again: nothing counts twice.
    package func ship(_ files: [ShippedFile]) throws(StoreError) {
        for table in Table.allCases { try insert(files, into: table) }
    }

    private func insert(_ files: [ShippedFile], into table: Table) throws(StoreError) {
        var partitions: [Int: (rows: [UInt8], count: Int)] = [:]
        for file in files {
            for (place, rows) in file.rows where place.table == table {
                var (bytes, count) = partitions.removeValue(forKey: place.month) ?? ([], 0)
                if count > 0, count + rows.count > Self.mostRows {
                    try insert(bytes, into: table.rawValue, table.columns)
                    (bytes, count) = ([], 0)
                }
                bytes += rows.writer.bytes
                partitions[place.month] = (bytes, count + rows.count)
            }
        }
        for (_, part) in partitions.sorted(by: { $0.key < $1.key }) {
            try insert(part.rows, into: table.rawValue, table.columns)
        }
    }

    /// The sessions that the tables already have, in the same state or a later one.
    package func known(_ sessions: [ShippedSession]) throws(StoreError) -> Set<ShippedSession> {
        guard !sessions.isEmpty else { return [] }
        let list = sessions.map { "\($0.number)" }.joined(separator: ", ")
        var answer = try ask(
            "SELECT session, max(progress) FROM sessions WHERE session IN (\(list)) GROUP BY session"
        )
        var stored: [UInt64: UInt64] = [:]
        while !answer.isAtEnd {
            let number = try answer.integer(UInt64.self)
            stored[number] = try answer.integer(UInt64.self)
        }
        return Set(sessions.filter { $0.progress <= stored[$0.number] ?? 0 })
    }

    /// The server's time, in nanoseconds since 1970 UTC.
    package func now() throws(StoreError) -> Int64 {
        var answer = try ask("SELECT toUnixTimestamp64Nano(now64(9))")
        return try answer.integer()
    }
}
