package import ProfileModel

extension RecordingFile {
    /// Writes the results of symbolication into a finished recording, replacing earlier ones. All
    /// or nothing: an error leaves the file unchanged.
    /// - Parameter references: see ``LibraryLoad/isReferenced``, by the library's row.
    package static func store(
        _ symbols: SymbolTable, references: [Int: Bool] = [:], in path: String
    ) throws(RecordingError) {
        let database = try Database.open(path, .recording, for: .write)
        defer { database.close() }
        var writer = try SymbolWriter(database)
        do {
            try writer.write(symbols)
            try writer.write(references)
            try writer.flush()
        } catch {
            switch error {
            case .failure(let failure): throw database.error(failure)
            case .inconsistency(let found): throw .refused(path: path, detail: found.detail)
            }
        }
        try database.execute("COMMIT")
    }
}

private struct SymbolWriter {
    private var symbols: SymbolRows
    private let module: any RowTarget
    private let remark: any RowTarget
    private let reference: any RowTarget
    /// The tables whose rows wait to be written.
    private let waiting: [PackedRows]
    private let moduleCount: Int
    private let libraryCount: Int
    private var remarkCount = 0

    init(_ database: Database) throws(RecordingError) {
        let tables: [any RecordingTable.Type] = [
            StringsTable.self, SymbolsTable.self, ModuleSymbolsTable.self,
            ModuleRemarksTable.self, LibraryReferencesTable.self,
        ]
        for table in tables { try database.delete(rowsOf: table.tableName) }
        var targets: [any RowTarget] = []
        if database.hasChunks {
            let chunks = try ChunkWriter(database, next: try database.nextChunk())
            waiting = tables.map { PackedRows($0.layout, chunks) }
            targets = waiting
        } else {
            waiting = []
            for table in tables {
                targets.append(try database.prepare(table.layout.insertion))
            }
        }
        symbols = SymbolRows(strings: targets[0], symbols: targets[1])
        (module, remark, reference) = (targets[2], targets[3], targets[4])
        moduleCount = try database.rows(of: ModulesTable.tableName)
        libraryCount = try database.rows(of: LibrariesTable.tableName)
    }

    /// In the order of the keys, so that the same symbols give the same bytes.
    mutating func write(_ table: SymbolTable) throws(ReadFailure) {
        for key in table.frames.keys.sorted(by: Self.precedes) {
            let row = RowPlace(table: SymbolsTable.tableName, row: symbols.count)
            try check(key.module, row)
            for (position, frame) in (table.frames[key] ?? []).enumerated() {
                guard frame.line ?? 0 >= 0 else {
                    throw .inconsistency(row.problem("a negative line"))
                }
                try attempt { () throws(SQLiteFailure) in
                    try symbols.write(frame, at: key, position)
                }
            }
        }
        for (row, index) in table.modules.keys.sorted().enumerated() {
            try check(index, RowPlace(table: ModuleSymbolsTable.tableName, row: row))
            guard let found = table.modules[index] else { continue }
            try attempt { () throws(SQLiteFailure) in
                try module.write((index, found), ModuleSymbolsTable.self, at: row)
                for note in found.remarks.prefix(ModuleSymbols.mostRemarks) {
                    try remark.write((index, note), ModuleRemarksTable.self, at: remarkCount)
                    remarkCount += 1
                }
            }
        }
    }

    /// In the order of the libraries.
    func write(_ references: [Int: Bool]) throws(ReadFailure) {
        for (row, (library, isReferenced)) in references.sorted(by: { $0.key < $1.key })
            .enumerated()
        {
            guard 0..<libraryCount ~= library else {
                let row = RowPlace(table: LibraryReferencesTable.tableName, row: row)
                throw .inconsistency(row.problem("no such library"))
            }
            try attempt { () throws(SQLiteFailure) in
                try reference.write(
                    (library, isReferenced), LibraryReferencesTable.self, at: row)
            }
        }
    }

    /// Afterwards, everything written is in the file.
    func flush() throws(ReadFailure) {
        try attempt { () throws(SQLiteFailure) in
            for table in waiting { try table.flush() }
        }
    }

    private static func precedes(_ left: FrameAddress, _ right: FrameAddress) -> Bool {
        let modules = (left.module?.rawValue ?? -1, right.module?.rawValue ?? -1)
        guard modules.0 == modules.1 else { return modules.0 < modules.1 }
        guard left.address.value == right.address.value else {
            return left.address.value < right.address.value
        }
        return left.address.kind.rawValue < right.address.kind.rawValue
    }

    private func check(_ index: ModuleIndex?, _ row: RowPlace) throws(ReadFailure) {
        guard let index, !(0..<moduleCount ~= index.rawValue) else { return }
        throw .inconsistency(row.problem("no such module"))
    }

    private func attempt(_ body: () throws(SQLiteFailure) -> Void) throws(ReadFailure) {
        do {
            try body()
        } catch {
            throw .failure(error)
        }
    }
}

/// Writes the meaning of addresses: each text once, and a row for each function at an address.
struct SymbolRows {
    private let string: any RowTarget
    private let symbol: any RowTarget
    /// The rows of the strings written so far.
    private var strings: [ExactText: Int] = [:]
    /// How many functions were written.
    private(set) var count = 0

    init(strings: any RowTarget, symbols: any RowTarget) {
        (string, symbol) = (strings, symbols)
    }

    /// - Parameter position: among the functions at the address; the outermost is 0.
    mutating func write(
        _ frame: SourceFrame, at address: FrameAddress, _ position: Int
    ) throws(SQLiteFailure) {
        let stored = StoredSymbol(
            address: address, position: position, function: try intern(frame.function),
            file: try intern(frame.file), line: frame.line, isInlined: frame.isInlined,
            isUnoptimized: frame.isUnoptimized, linkageName: try intern(frame.linkageName))
        try symbol.write(stored, SymbolsTable.self, at: count)
        count += 1
    }

    private mutating func intern(_ text: String?) throws(SQLiteFailure) -> Int? {
        guard let text else { return nil }
        let key = ExactText(text)
        if let known = strings[key] { return known }
        let row = strings.count
        try string.write(text, StringsTable.self, at: row)
        strings[key] = row
        return row
    }
}
