/// A text as a key, compared by its bytes. A `String` treats two encodings of one letter as equal:
/// if two file names differ only in that, one would be written for the other.
struct ExactText: Hashable {
    private let text: String

    init(_ text: String) { self.text = text }

    static func == (left: Self, right: Self) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
