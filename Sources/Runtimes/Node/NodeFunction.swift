/// A JavaScript function as V8 names it for perf: `JS:*name /path/script.js:12:34`.
///
/// V8 source: `CodeEventLogger` in `src/logging/log.cc`. The position is that of the parameters.
package struct NodeFunction: Hashable, Sendable {
    /// Empty: the function has no name.
    package var name: String
    /// A path, or one of Node's names: `node:fs`, `[eval]`.
    package var script: String
    /// Both 1-based.
    package var line: Int32
    package var column: Int32

    package init(name: String, script: String, line: Int32, column: Int32) {
        self.name = name
        self.script = script
        self.line = line
        self.column = column
    }

    /// nil: it is not a JavaScript function, or its place is missing.
    package init?(_ entry: some StringProtocol) {
        guard let tag = entry.firstIndex(of: ":"), Self.tags.contains(String(entry[..<tag])) else {
            return nil
        }
        var rest = Substring(entry[entry.index(after: tag)...])
        if Self.hasTier(rest) { rest.removeFirst() }
        guard let column = Self.takeNumber(&rest), let line = Self.takeNumber(&rest),
            let (name, script) = Self.split(rest), !script.isEmpty
        else { return nil }
        self.init(
            name: String(name), script: Self.path(script), line: line, column: column)
    }

    /// True if a line of a perf map is about JavaScript.
    package static func isTagged(_ entry: some Sequence<UInt8>) -> Bool {
        tagStarts.contains { entry.starts(with: $0) }
    }

    /// A map's entry without the way in which V8 runs the function: interpreted, or compiled by one
    /// of its compilers.
    package static func withoutTier(_ entry: String) -> String {
        guard let colon = entry.firstIndex(of: ":") else { return entry }
        let rest = entry[entry.index(after: colon)...]
        return hasTier(rest) ? String(entry[...colon] + rest.dropFirst()) : entry
    }

    private static func hasTier(_ text: Substring) -> Bool {
        text.first.map { "~^*+".contains($0) } ?? false
    }

    /// True for the code of a whole script or module: it runs when the script is loaded.
    package var isModule: Bool { name.isEmpty && line == 1 && column == 1 }

    /// The name to show in reports.
    package var shownName: String {
        isModule ? Self.moduleName : name.isEmpty ? "(anonymous)" : name
    }

    /// Python's name for a module's code.
    package static let moduleName = "<module>"

    private static let tags: Set = ["JS", "LazyCompile", "Function", "Script", "Eval"]
    private static let tagStarts = tags.map { Array(($0 + ":").utf8) }

    /// Removes `:12` from the end.
    private static func takeNumber(_ text: inout Substring) -> Int32? {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        guard digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let number = Int32(digits), number > 0
        else { return nil }
        text = text[..<colon]
        return number
    }

    /// Names and paths may both contain spaces; a path is recognised by its start.
    private static func split(_ text: Substring) -> (name: Substring, script: Substring)? {
        var firstSpace: Substring.Index?
        for space in text.indices where text[space] == " " {
            let script = text[text.index(after: space)...]
            if scriptStarts.contains(where: script.hasPrefix) { return (text[..<space], script) }
            firstSpace = firstSpace ?? space
        }
        return firstSpace.map { (text[..<$0], text[text.index(after: $0)...]) }
    }

    private static let scriptStarts = ["/", "file://", "node:", "[eval", "evalmachine.", "wasm://"]

    /// The path in a file URL.
    private static func path(_ script: Substring) -> String {
        guard script.hasPrefix("file:///") else { return String(script) }
        return PercentEncoding.decoded(script.dropFirst("file://".count))
    }
}

/// How URLs encode characters that they may not contain.
enum PercentEncoding {
    /// Anything else stays unchanged.
    static func decoded(_ text: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        var rest = ArraySlice(Array(text.utf8))
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2,
                let high = digit(digits.first), let low = digit(digits.last)
            {
                bytes.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8?) -> UInt8? {
        switch byte {
        case .some(let byte) where 0x30...0x39 ~= byte: byte - 0x30
        case .some(let byte) where 0x41...0x46 ~= byte: byte - 0x41 + 10
        case .some(let byte) where 0x61...0x66 ~= byte: byte - 0x61 + 10
        default: nil
        }
    }
}
