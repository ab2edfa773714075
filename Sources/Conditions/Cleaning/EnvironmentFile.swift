package import ProfileModel

/// A file of variables, one a line:
///
///     # a comment; blank lines mean nothing, either
///     PLAIN=the rest of the line, without blanks at its ends
///     LITERAL='as it stands, over several lines if need be'
///     ESCAPED="with \n, \t, \\, \" and \$ as in C and shells"
///     export TOO=allowed
///     EMPTY=
///
/// Nothing is expanded: `$HOME` is five characters. After a closing quote there may be a comment. If
/// a name is repeated, its last line counts. Values need not be UTF-8.
package enum EnvironmentFile {
    /// The file at `path`, of at most 1 MiB.
    package static func read(_ path: String) throws(ConditionError) -> [EnvironmentChange] {
        guard let bytes = FileText.bytes(of: path, limit: 1 << 20) else {
            throw .badValue(
                condition: "--env-file", value: path,
                expected: "a file of at most 1 MiB that can be read")
        }
        return try parse(bytes, path: path)
    }

    /// - Parameter path: for messages.
    package static func parse(
        _ bytes: [UInt8], path: String
    ) throws(ConditionError) -> [EnvironmentChange] {
        var reader = Reader(rest: bytes[...], path: path)
        var changes: [EnvironmentChange] = []
        while !reader.rest.isEmpty {
            if let change = try reader.next() { changes.append(change) }
        }
        return changes
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>
        let path: String
        var line = 1

        private static let newline = UInt8(ascii: "\n")

        private func problem(_ expected: String) -> ConditionError {
            .badValue(condition: "--env-file", value: "\(path):\(line)", expected: expected)
        }

        private static func isBlank(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
        }

        private mutating func skipBlanks() { rest = rest.drop(while: Self.isBlank) }

        /// Moves to the beginning of the next line.
        private mutating func endLine() {
            rest = rest.drop { $0 != Self.newline }.dropFirst()
            line += 1
        }

        /// The next line's variable; nil: it has none.
        mutating func next() throws(ConditionError) -> EnvironmentChange? {
            skipBlanks()
            guard let first = rest.first, first != Self.newline, first != UInt8(ascii: "#") else {
                endLine()
                return nil
            }
            let keyword = Array("export".utf8)
            if rest.starts(with: keyword), rest.dropFirst(6).first.map(Self.isBlank) == true {
                rest = rest.dropFirst(7)
                skipBlanks()
            }
            let name = Array(rest.prefix(while: Self.isNamed))
            rest = rest.dropFirst(name.count)
            guard let start = name.first, !(48...57).contains(start),
                rest.first == UInt8(ascii: "=")
            else {
                throw problem("NAME=VALUE, where a name has letters, digits and _")
            }
            rest = rest.dropFirst()
            let value = try nextValue()
            guard !value.contains(0) else { throw problem("values without zero bytes") }
            endLine()
            return EnvironmentChange(name: name, value: value)
        }

        private static func isNamed(_ byte: UInt8) -> Bool {
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                || byte == UInt8(ascii: "_")
        }

        private mutating func nextValue() throws(ConditionError) -> [UInt8] {
            skipBlanks()
            guard let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'")
            else {
                var value = Array(rest.prefix { $0 != Self.newline })
                rest = rest.dropFirst(value.count)
                while let last = value.last, Self.isBlank(last) { value.removeLast() }
                return value
            }
            rest = rest.dropFirst()
            let value = try quoted(quote)
            skipBlanks()
            guard rest.isEmpty || rest.first == Self.newline || rest.first == UInt8(ascii: "#")
            else { throw problem("nothing but a comment behind the closing quote") }
            return value
        }

        private mutating func quoted(_ quote: UInt8) throws(ConditionError) -> [UInt8] {
            let start = line
            var value: [UInt8] = []
            while let byte = rest.popFirst() {
                if byte == quote { return value }
                if byte == Self.newline { line += 1 }
                guard byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") else {
                    value.append(byte)
                    continue
                }
                guard let escaped = rest.popFirst() else { break }
                switch escaped {
                case UInt8(ascii: "n"): value.append(Self.newline)
                case UInt8(ascii: "t"): value.append(UInt8(ascii: "\t"))
                case UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "$"):
                    value.append(escaped)
                default: throw problem("\\n, \\t, \\\\, \\\" or \\$ behind a backslash")
                }
            }
            line = start
            throw problem("a closing quote")
        }
    }
}
