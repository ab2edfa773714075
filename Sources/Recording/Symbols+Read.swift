import ProfileModel

extension TableReader {
    /// The four tables of symbols; empty if the recording was not symbolicated.
    mutating func symbols() throws(ReadFailure) -> SymbolTable {
        var table = SymbolTable()
        let strings = try strings()
        var current: FrameAddress?
        try scan(Schema.symbols) { row, rules throws(ReadFailure) in
            let key = try row.frame(1)
            let position: Int = try row.integer(4)
            let frame = try Self.sourceFrame(row, strings)
            try Self.admit { () throws(Inconsistency) in
                try rules.check(key.module, row.table.name, row.number)
            }
            let isNext = position > 0 && key == current
            guard position == (isNext ? table.frames[key]?.count : 0),
                isNext || table.frames[key] == nil
            else { throw row.invalid(4) }
            table.frames[key, default: []].append(frame)
            current = key
        }
        try scan(Schema.moduleSymbols) { row, rules throws(ReadFailure) in
            let index = ModuleIndex(try row.integer(1))
            try Self.admit { () throws(Inconsistency) in
                try rules.check(index, row.table.name, row.number)
            }
            guard table.modules[index] == nil else { throw row.invalid(1) }
            table.modules[index] = ModuleSymbols(
                debugInfoPath: try row.optionalText(2),
                debugInfoOrigin: try Self.word(&row, 3), symbolOrigin: try Self.word(&row, 4))
        }
        try scan(Schema.moduleRemarks) { row, _ throws(ReadFailure) in
            let index = ModuleIndex(try row.integer(1))
            guard let known = table.modules[index],
                known.remarks.count < ModuleSymbols.mostRemarks
            else { throw row.invalid(1) }
            guard let kind: ModuleRemark.Kind = try Self.word(&row, 2) else {
                throw row.invalid(2)
            }
            table.modules[index]?.remarks.append(ModuleRemark(kind, try row.text(3)))
        }
        return table
    }

    mutating func readReferences(into libraries: inout [LibraryLoad]) throws(ReadFailure) {
        try scan(Schema.references) { row, _ throws(ReadFailure) in
            let library: Int = try row.integer(1)
            guard libraries.indices.contains(library), libraries[library].isReferenced == nil
            else { throw row.invalid(1) }
            libraries[library].isReferenced = try row.bool(2)
        }
    }

    /// nil for NULL.
    private static func word<Word: RawRepresentable<String>>(
        _ row: inout Row, _ column: Int32
    ) throws(ReadFailure) -> Word? {
        guard let text = try row.optionalText(column) else { return nil }
        guard let word = Word(rawValue: text) else { throw row.invalid(column) }
        return word
    }

    private mutating func strings() throws(ReadFailure) -> [String] {
        var strings: [String] = []
        try scan(Schema.strings) { row, _ throws(ReadFailure) in
            strings.append(try row.text(1))
        }
        return strings
    }

    private static func sourceFrame(
        _ row: Row, _ strings: [String]
    ) throws(ReadFailure) -> SourceFrame {
        func string(_ column: Int32) throws(ReadFailure) -> String? {
            guard let index = try row.optional(column) as Int? else { return nil }
            guard strings.indices.contains(index) else { throw row.invalid(column) }
            return strings[index]
        }
        let line: Int32? = try row.optional(7)
        if let line, line < 0 { throw row.invalid(7) }
        return SourceFrame(
            function: try string(5), file: try string(6), line: line,
            isInlined: try row.bool(8), isUnoptimized: try row.bool(9),
            linkageName: try string(10))
    }
}
