import ProfileModel

/// Writes what addresses mean: each text once, and a row for each function at an address.
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
        _ frame: SourceFrame, at key: FrameAddress, _ position: Int
    ) throws(SQLiteFailure) {
        let function = try intern(frame.function)
        let file = try intern(frame.file)
        let linkageName = try intern(frame.linkageName)
        try symbol.bind(1, count)
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
        count += 1
    }

    private mutating func intern(_ text: String?) throws(SQLiteFailure) -> Int64? {
        guard let text else { return nil }
        let key = ExactText(text)
        if let known = strings[key] { return Int64(known) }
        let row = strings.count
        try string.bind(1, row)
        try string.bind(2, text)
        try string.run()
        strings[key] = row
        return Int64(row)
    }
}
