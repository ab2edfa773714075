import ProfileModel

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
