import CSignpost
import Glibc

/// The texts of signposts. Programs repeat a few of them, so each is decoded only once.
package struct SignpostLabels {
    /// One event's texts, in one piece as they are in the ring.
    package struct Key: Hashable {
        package var bytes: [UInt8]
        package var nameLength: Int
        package var categoryLength: Int
        package var isTruncated: Bool
    }

    /// How many labels are kept for reuse.
    private let limit: Int
    /// By their bytes' checksum. Among several with the same checksum, only the first is kept.
    private var known: [UInt64: (key: Key, label: SignpostLabel)] = [:]

    package init(limit: Int = 4096) {
        self.limit = limit
    }

    package var count: Int { known.count }

    /// - Parameter bytes: the key's bytes, so that the key itself may have none. They are copied
    ///   only for a new label.
    package mutating func label(_ key: Key, bytes: UnsafeRawBufferPointer) -> SignpostLabel {
        let checksum = Self.checksum(key, bytes)
        if let found = known[checksum], found.key.nameLength == key.nameLength,
            found.key.categoryLength == key.categoryLength,
            found.key.isTruncated == key.isTruncated, Self.isEqual(found.key.bytes, bytes)
        {
            return found.label
        }
        var key = key
        key.bytes = Array(bytes)
        let label = Self.decoded(key)
        if known.count < limit, known[checksum] == nil { known[checksum] = (key, label) }
        return label
    }

    private static func isEqual(_ kept: [UInt8], _ bytes: UnsafeRawBufferPointer) -> Bool {
        kept.withUnsafeBytes { kept in
            guard kept.count == bytes.count else { return false }
            guard let left = kept.baseAddress, let right = bytes.baseAddress else { return true }
            return memcmp(left, right, kept.count) == 0
        }
    }

    /// FNV-1a's step (G. Fowler, L. C. Noll, P. Vo) for eight bytes at a time.
    private static func checksum(_ key: Key, _ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var sum: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ value: UInt64) {
            sum = (sum ^ value) &* 0x0000_0100_0000_01B3
            sum ^= sum >> 29
        }
        add(UInt64(truncatingIfNeeded: key.nameLength << 8 | key.categoryLength))
        var offset = 0
        while offset + 8 <= bytes.count {
            add(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        for byte in bytes[offset...] { add(UInt64(byte)) }
        return sum
    }

    private static func decoded(_ key: Key) -> SignpostLabel {
        let nameEnd = max(0, min(key.nameLength, key.bytes.count))
        let categoryEnd = max(nameEnd, min(nameEnd + key.categoryLength, key.bytes.count))
        func text(_ range: Range<Int>, limit: Int) -> String {
            decoded(key.bytes[range], isTruncated: key.isTruncated && range.count == limit)
        }
        return SignpostLabel(
            name: text(0..<nameEnd, limit: FIRSTLIGHT_NAME_LIMIT),
            category: text(nameEnd..<categoryEnd, limit: FIRSTLIGHT_LABEL_LIMIT),
            subsystem: text(categoryEnd..<key.bytes.count, limit: FIRSTLIGHT_LABEL_LIMIT))
    }

    /// Bytes that are not UTF-8 become the replacement character. A partial character at the end of
    /// a truncated text is left out.
    private static func decoded(_ bytes: ArraySlice<UInt8>, isTruncated: Bool) -> String {
        guard isTruncated else { return String(decoding: bytes, as: UTF8.self) }
        return String(decoding: withoutHalfCharacter(bytes), as: UTF8.self) + "…"
    }

    private static func withoutHalfCharacter(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        // A character's first byte tells its length; its other bytes are 0b10xxxxxx.
        let tail = bytes.suffix(3)
        guard let first = tail.lastIndex(where: { $0 & 0xC0 != 0x80 }) else { return bytes }
        let length: Int =
            switch bytes[first] {
            case 0xC0..<0xE0: 2
            case 0xE0..<0xF0: 3
            case 0xF0..<0xF8: 4
            default: 1
            }
        return bytes.endIndex - first < length ? bytes[..<first] : bytes
    }
}
