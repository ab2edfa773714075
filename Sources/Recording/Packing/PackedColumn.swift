/// The values of one column that wait to be written, in the file's encoding. Each value is a
/// number:
///
/// - integers: 0 is NULL; 1 means that the value follows in eight bytes, the lowest first. Any
///   other number is two more than the folded difference from the column's last value that was not
///   NULL (0 before the first). The fold of a difference is its double, or, below zero, twice its
///   amount less one;
/// - texts: 0 is NULL; 1 means that a text follows, its length in bytes and its UTF-8. Any other
///   number is two more than the position of an earlier text, among the column's texts in this
///   chunk that are no longer than ``longestShared``;
/// - blobs: 0 is NULL; any other number is one more than the length, and the bytes follow.
struct PackedColumn {
    /// In bytes. A longer text is written each time, so that a small file cannot expand to much
    /// text.
    static let longestShared = 4096

    private(set) var bytes: [UInt8] = []
    private var last: Int64 = 0
    private var texts: [ExactText: UInt64] = [:]

    mutating func appendNull() { bytes.append(0) }

    mutating func append(_ value: Int64) {
        let difference = value &- last
        last = value
        // The lowest bit is the sign, so small amounts give small numbers.
        let folded = UInt64(bitPattern: (difference << 1) ^ (difference >> 63))
        guard folded <= UInt64.max - 2 else {
            bytes.append(1)
            withUnsafeBytes(of: value.littleEndian) { bytes += $0 }
            return
        }
        LEB128.append(folded + 2, to: &bytes)
    }

    mutating func append(_ text: String) {
        let key = ExactText(text)
        if let known = texts[key] { return LEB128.append(known + 2, to: &bytes) }
        let length = text.utf8.count
        if length <= Self.longestShared { texts[key] = UInt64(texts.count) }
        bytes.append(1)
        LEB128.append(UInt64(length), to: &bytes)
        bytes += text.utf8
    }

    mutating func append(_ blob: [UInt8]) {
        LEB128.append(UInt64(blob.count) + 1, to: &bytes)
        bytes += blob
    }

    /// Removes all values, but keeps the memory.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        texts.removeAll(keepingCapacity: true)
        last = 0
    }
}

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
