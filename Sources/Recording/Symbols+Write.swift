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
    /// nil: the file has an older version, without this table.
    private let reference: (any RowTarget)?
    /// The tables whose rows wait to be written.
    private let waiting: [PackedRows]
    private let moduleCount: Int
    private let libraryCount: Int
    private var remarkCount = 0

    init(_ database: Database) throws(RecordingError) {
        let tables = [
            Schema.strings, Schema.symbols, Schema.moduleSymbols, Schema.moduleRemarks,
        ]
        let takesReferences = database.version >= Schema.firstWithReferences
        if database.hasChunks {
            let all = tables + (takesReferences ? [Schema.references] : [])
            for table in all { try database.delete(chunksOf: table) }
            let chunks = try ChunkWriter(database, next: try database.nextChunk())
            waiting = all.map { PackedRows($0, chunks) }
            symbols = SymbolRows(strings: waiting[0], symbols: waiting[1])
            (module, remark) = (waiting[2], waiting[3])
            reference = waiting.count > 4 ? waiting[4] : nil
        } else {
            for table in tables { try database.execute("DELETE FROM \(table.name)") }
            waiting = []
            reference = nil
            symbols = SymbolRows(
                strings: try database.prepare(Schema.strings.insertion),
                symbols: try database.prepare(Schema.symbols.insertion))
            (module, remark) = (
                try database.prepare(Schema.moduleSymbols.insertion),
                try database.prepare(Schema.moduleRemarks.insertion)
            )
        }
        moduleCount = try database.rows(of: Schema.modules)
        libraryCount = try database.rows(of: Schema.libraries)
    }

    /// In the order of the keys, so that the same symbols give the same bytes.
    mutating func write(_ table: SymbolTable) throws(ReadFailure) {
        for key in table.frames.keys.sorted(by: Self.precedes) {
            try check(key.module, Schema.symbols)
            for (position, frame) in (table.frames[key] ?? []).enumerated() {
                try write(frame, key, position)
            }
        }
        for (row, index) in table.modules.keys.sorted().enumerated() {
            try check(index, Schema.moduleSymbols)
            guard let found = table.modules[index] else { continue }
            try attempt { () throws(SQLiteFailure) in
                try module.bind(1, row)
                try module.bind(2, index.rawValue)
                try module.bind(3, found.debugInfoPath)
                try module.bind(4, found.debugInfoOrigin?.rawValue)
                try module.bind(5, found.symbolOrigin?.rawValue)
                try module.run()
            }
            for note in found.remarks.prefix(ModuleSymbols.mostRemarks) {
                try write(note, of: index)
            }
        }
    }

    /// In the order of the libraries.
    func write(_ references: [Int: Bool]) throws(ReadFailure) {
        guard let reference else { return }
        for (row, library) in references.keys.sorted().enumerated() {
            guard let isReferenced = references[library], 0..<libraryCount ~= library else {
                throw .inconsistency(
                    Inconsistency(
                        table: Schema.references.name, row: row, problem: "no such library"))
            }
            try attempt { () throws(SQLiteFailure) in
                try reference.bind(1, row)
                try reference.bind(2, library)
                try reference.bind(3, isReferenced)
                try reference.run()
            }
        }
    }

    /// Afterwards, everything written is in the file.
    func flush() throws(ReadFailure) {
        try attempt { () throws(SQLiteFailure) in
            for table in waiting { try table.flush() }
        }
    }

    private mutating func write(
        _ note: ModuleRemark, of index: ModuleIndex
    ) throws(ReadFailure) {
        try attempt { () throws(SQLiteFailure) in
            try remark.bind(1, remarkCount)
            try remark.bind(2, index.rawValue)
            try remark.bind(3, note.kind.rawValue)
            try remark.bind(4, note.detail)
            try remark.run()
        }
        remarkCount += 1
    }

    private static func precedes(_ left: FrameAddress, _ right: FrameAddress) -> Bool {
        let modules = (left.module?.rawValue ?? -1, right.module?.rawValue ?? -1)
        guard modules.0 == modules.1 else { return modules.0 < modules.1 }
        guard left.address.value == right.address.value else {
            return left.address.value < right.address.value
        }
        return left.address.kind.rawValue < right.address.kind.rawValue
    }

    private func check(_ index: ModuleIndex?, _ table: Schema.Table) throws(ReadFailure) {
        guard let index, !(0..<moduleCount ~= index.rawValue) else { return }
        throw .inconsistency(
            Inconsistency(table: table.name, row: symbols.count, problem: "no such module"))
    }

    private mutating func write(
        _ frame: SourceFrame, _ key: FrameAddress, _ position: Int
    ) throws(ReadFailure) {
        if let line = frame.line, line < 0 {
            throw .inconsistency(
                Inconsistency(
                    table: Schema.symbols.name, row: symbols.count, problem: "a negative line"))
        }
        do {
            try symbols.write(frame, at: key, position)
        } catch {
            throw .failure(error)
        }
    }

    private func attempt(_ body: () throws(SQLiteFailure) -> Void) throws(ReadFailure) {
        do {
            try body()
        } catch {
            throw .failure(error)
        }
    }
}
