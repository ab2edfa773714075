package import ProfileModel

extension RecordingFile {
    /// Puts what symbolication found into a finished recording, in place of what was there.
    /// All or nothing: an error leaves the file as it was.
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
    private let string: any RowTarget
    private let symbol: any RowTarget
    private let module: any RowTarget
    private let remark: any RowTarget
    /// nil: a file of an older version has no room for it.
    private let reference: (any RowTarget)?
    /// Those of them that wait to be written.
    private let waiting: [PackedRows]
    private let moduleCount: Int
    private let libraryCount: Int
    /// The rows of the strings that were written.
    private var strings: [ExactText: Int] = [:]
    private var symbolCount = 0
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
            (string, symbol, module, remark) = (waiting[0], waiting[1], waiting[2], waiting[3])
            reference = waiting.count > 4 ? waiting[4] : nil
        } else {
            for table in tables { try database.execute("DELETE FROM \(table.name)") }
            waiting = []
            reference = nil
            (string, symbol) = (
                try database.prepare(Schema.strings.insertion),
                try database.prepare(Schema.symbols.insertion)
            )
            (module, remark) = (
                try database.prepare(Schema.moduleSymbols.insertion),
                try database.prepare(Schema.moduleRemarks.insertion)
            )
        }
        moduleCount = try database.rows(of: Schema.modules)
        libraryCount = try database.rows(of: Schema.libraries)
    }

    /// In the order of the keys: the same symbols give the same bytes.
    mutating func write(_ symbols: SymbolTable) throws(ReadFailure) {
        for key in symbols.frames.keys.sorted(by: Self.precedes) {
            try check(key.module, Schema.symbols)
            for (position, frame) in (symbols.frames[key] ?? []).enumerated() {
                try write(frame, key, position)
            }
        }
        for (row, index) in symbols.modules.keys.sorted().enumerated() {
            try check(index, Schema.moduleSymbols)
            guard let found = symbols.modules[index] else { continue }
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

    /// What was written is in the file after it.
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
            Inconsistency(table: table.name, row: symbolCount, problem: "no such module"))
    }

    private mutating func write(
        _ frame: SourceFrame, _ key: FrameAddress, _ position: Int
    ) throws(ReadFailure) {
        if let line = frame.line, line < 0 {
            throw .inconsistency(
                Inconsistency(
                    table: Schema.symbols.name, row: symbolCount, problem: "a negative line"))
        }
        let function = try intern(frame.function)
        let file = try intern(frame.file)
        let linkageName = try intern(frame.linkageName)
        try attempt { () throws(SQLiteFailure) in
            try symbol.bind(1, symbolCount)
            try symbol.bind(2, key.module.map { Int64($0.rawValue) })
            try symbol.bind(3, bits: key.address.value)
            try symbol.bind(4, Int64(key.address.kind.rawValue))
            try symbol.bind(5, position)
            try symbol.bind(6, function)
            try symbol.bind(7, file)
            try symbol.bind(8, frame.line.map { Int64($0) })
            try symbol.bind(9, frame.isInlined)
            try symbol.bind(10, frame.isUnoptimized)
            try symbol.bind(11, linkageName)
            try symbol.run()
        }
        symbolCount += 1
    }

    private mutating func intern(_ text: String?) throws(ReadFailure) -> Int64? {
        guard let text else { return nil }
        let key = ExactText(text)
        if let known = strings[key] { return Int64(known) }
        let row = strings.count
        try attempt { () throws(SQLiteFailure) in
            try string.bind(1, row)
            try string.bind(2, text)
            try string.run()
        }
        strings[key] = row
        return Int64(row)
    }

    private func attempt(_ body: () throws(SQLiteFailure) -> Void) throws(ReadFailure) {
        do {
            try body()
        } catch {
            throw .failure(error)
        }
    }
}
