/// Names, categories and paths as recordings hold them. They come from programs and files, which may say
/// anything, at any length.
package enum RecordedText {
    /// In bytes of UTF-8.
    package static let longest = 16 << 10

    /// Cut to ``longest``, at a character's border.
    package static func bounded(_ text: String) -> String {
        guard text.utf8.count > longest else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: longest)
        // Inside a character this is nil.
        while end.samePosition(in: text) == nil { end = text.utf8.index(before: end) }
        return String(text[..<end])
    }
}
