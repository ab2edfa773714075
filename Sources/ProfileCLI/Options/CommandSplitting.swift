/// A command given as one word, split like POSIX shells do: at spaces, tabs and line breaks, with
/// single and double quotes and backslashes (Shell Command Language, 2.2). Nothing is expanded.
/// Anything that only a shell can do is an error: a wrong guess would measure another program than
/// the user means.
package struct CommandSplitting {
    package enum Problem: Error, Hashable, CustomStringConvertible {
        case empty
        /// A quote that opens here, counted from 1, is never closed.
        case unclosed(Character, place: Int)
        case backslashAtEnd
        /// A character with a special meaning to a shell.
        case special(Character, place: Int)
        /// `NAME=value` before the program's name.
        case assignment(String)

        package var description: String {
            switch self {
            case .empty: "there is no command"
            case .unclosed(let quote, let place): "the \(quote) at \(place) is not closed"
            case .backslashAtEnd: "nothing follows the backslash at the end"
            case .special(let character, let place):
                "the \(character) at \(place) is for a shell, but no shell is run; quote it, or "
                    + "run one: sh -c '...'"
            case .assignment(let word):
                "'\(word)' sets a variable, which needs a shell; write: env \(word) ..."
            }
        }
    }

    private var rest: ArraySlice<(place: Int, character: Character)>
    private var words: [String] = []
    /// nil: between words.
    private var word: String?
    /// True if the word has no quotes so far.
    private var isPlain = true

    private init(_ text: String) {
        rest = ArraySlice(text.enumerated().map { ($0.offset + 1, $0.element) })
    }

    /// At least one.
    package static func words(of text: String) throws(Problem) -> [String] {
        var splitting = CommandSplitting(text)
        return try splitting.run()
    }

    private mutating func run() throws(Problem) -> [String] {
        while let (place, character) = rest.popFirst() {
            switch character {
            case " ", "\t", "\n": try endWord()
            case "'": try takeLiteral(from: place)
            case "\"": try takeQuoted(from: place)
            case "\\": try takeEscaped()
            default: try takePlain(character, at: place)
            }
        }
        try endWord()
        guard words.first?.isEmpty == false else { throw .empty }
        return words
    }

    private mutating func endWord() throws(Problem) {
        guard let word else { return }
        if words.isEmpty, isPlain, Self.isAssignment(word) { throw .assignment(word) }
        words.append(word)
        self.word = nil
        isPlain = true
    }

    private mutating func add(_ text: some StringProtocol) { word = (word ?? "") + text }

    private mutating func takePlain(_ character: Character, at place: Int) throws(Problem) {
        let isFirst = word == nil
        let isSpecial =
            "|&;<>()$`*?[".contains(character) || isFirst && "~#!".contains(character)
            || character == "{" && isFirst && words.isEmpty
        guard !isSpecial else { throw .special(character, place: place) }
        add(String(character))
    }

    private mutating func takeEscaped() throws(Problem) {
        guard let (_, character) = rest.popFirst() else { throw .backslashAtEnd }
        // A continued line.
        guard character != "\n" else { return }
        add(String(character))
        // `A\=b` is not an assignment.
        isPlain = false
    }

    /// Up to the next single quote, all characters are literal.
    private mutating func takeLiteral(from place: Int) throws(Problem) {
        var text = ""
        while let (_, character) = rest.popFirst() {
            guard character != "'" else { return addQuoted(text) }
            text.append(character)
        }
        throw .unclosed("'", place: place)
    }

    /// Up to the next double quote; a backslash is literal except before special characters.
    private mutating func takeQuoted(from start: Int) throws(Problem) {
        var text = ""
        while let (place, character) = rest.popFirst() {
            switch character {
            case "\"": return addQuoted(text)
            case "$", "`": throw .special(character, place: place)
            case "\\":
                guard let (_, next) = rest.popFirst() else {
                    throw .unclosed("\"", place: start)
                }
                if next != "\n" { text += "$`\"\\".contains(next) ? String(next) : "\\\(next)" }
            default: text.append(character)
            }
        }
        throw .unclosed("\"", place: start)
    }

    private mutating func addQuoted(_ text: String) {
        // `A="b c"` sets a variable; `"A=b"` does not.
        if !(word ?? "").contains("=") { isPlain = false }
        add(text)
    }

    private static func isAssignment(_ word: String) -> Bool {
        guard let end = word.utf8.firstIndex(of: UInt8(ascii: "=")) else { return false }
        let name = word.utf8[..<end]
        guard let first = name.first, !(0x30...0x39 ~= first) else { return false }
        return name.allSatisfy {
            0x30...0x39 ~= $0 || 0x41...0x5A ~= $0 || 0x61...0x7A ~= $0 || $0 == 0x5F
        }
    }
}
