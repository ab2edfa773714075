/// Names, categories and paths in recordings. They come from programs and files, so they may
/// contain anything, and be of any length.
package enum RecordedText {
    /// In bytes of UTF-8.
    package static let longest = 16 << 10

    /// Cut to ``longest``, between two characters.
    package static func bounded(_ text: String) -> String {
        guard text.utf8.count > longest else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: longest)
        // nil inside a character.
        while end.samePosition(in: text) == nil { end = text.utf8.index(before: end) }
        return String(text[..<end])
    }
}
