/// The values of one column that wait to be written, in the bytes that a file has of them. Each value
/// is a number:
///
/// - integers: 0 is NULL; 1 means that eight bytes follow, the value as it is, the lowest first;
///   everything else is two more than the difference to the last value of the column that was not
///   NULL (0 before the first), as twice the difference, or for one below zero twice its amount
///   less one;
/// - texts: 0 is NULL; 1 means that a text follows, its length in bytes and its UTF-8; everything
///   else is two more than the place of an earlier text among those of the column in this chunk that
///   are no longer than ``longestShared``;
/// - blobs: 0 is NULL; everything else is one more than the length, and the bytes follow.
struct PackedColumn {
    /// In bytes. A longer text is written each time: so a small file cannot stand for much text.
    static let longestShared = 4096

    private(set) var bytes: [UInt8] = []
    private var last: Int64 = 0
    private var texts: [ExactText: UInt64] = [:]

    mutating func appendNull() { bytes.append(0) }

    mutating func append(_ value: Int64) {
        let difference = value &- last
        last = value
        // The lowest bit is the sign: small amounts are small numbers.
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

    /// Forgets everything, but keeps the room.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        texts.removeAll(keepingCapacity: true)
        last = 0
    }
}
