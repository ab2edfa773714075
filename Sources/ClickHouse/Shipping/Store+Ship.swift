extension Store {
    /// What became of files that were shipped together.
    package struct Shipped: Sendable {
        /// Are in the tables now.
        package var new: [ShippedFile] = []
        /// Were there already.
        package var known: [ShippedFile] = []
    }

    /// Writes the files' rows. All are in the tables when it returns; after an error the same may be
    /// shipped again: nothing counts twice.
    package func ship(_ files: [ShippedFile]) throws(StoreError) -> Shipped {
        let stored = try sessions(files.map(\.session.number))
        var shipped = Shipped()
        for file in files {
            if stored[file.session.number] == file.session.figures {
                shipped.known.append(file)
            } else {
                shipped.new.append(file)
            }
        }
        for table in Table.allCases { try insert(shipped.new, into: table) }
        return shipped
    }

    private func insert(_ files: [ShippedFile], into table: Table) throws(StoreError) {
        var partitions: [Int: (rows: [UInt8], count: Int)] = [:]
        for file in files {
            for (place, rows) in file.rows where place.table == table {
                var (bytes, count) = partitions.removeValue(forKey: place.month) ?? ([], 0)
                if count + rows.count > Self.mostRows {
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

    private func sessions(
        _ numbers: [UInt64]
    ) throws(StoreError) -> [UInt64: ShippedFile.Session.Figures] {
        guard !numbers.isEmpty else { return [:] }
        let list = numbers.map(String.init).joined(separator: ", ")
        var answer = try ask(
            """
            SELECT session, launches, ending FROM sessions FINAL WHERE session IN (\(list))
            FORMAT RowBinary
            """)
        var found: [UInt64: ShippedFile.Session.Figures] = [:]
        while !answer.isAtEnd {
            let number = try answer.integer(UInt64.self)
            let launches = Int(try answer.integer(UInt32.self))
            found[number] = .init(launches: launches, ending: try answer.text())
        }
        return found
    }

    /// The server's time, in nanoseconds since 1970 UTC.
    package func now() throws(StoreError) -> Int64 {
        var answer = try ask("SELECT toUnixTimestamp64Nano(now64(9)) FORMAT RowBinary")
        return try answer.integer()
    }
}

extension ShippedFile.Session {
    /// A measurement that goes on has others the next time.
    struct Figures: Hashable {
        var launches: Int
        var ending: String
    }

    fileprivate var figures: Figures { Figures(launches: launches, ending: ending) }
}
