internal import ELF

// Raw memory: the content stays in the bytes that were opened.

/// A piece of a cache file that is complete in itself. It tells its kind, which files it belongs
/// to, and whether it is undamaged.
///
/// Layout, little-endian: eight letters for the kind; the cache's version and the identity's size,
/// 4 bytes each; the content's size and the XXH64 of identity and content, 8 bytes each; the
/// identity; the content.
struct Parcel {
    let content: UnsafeRawBufferPointer
    /// The size of the whole parcel.
    let size: Int

    private static let headerSize = 32

    /// The kinds of parcels.
    enum Kind: String {
        case answers = "FLSYMBOL"
        case places = "FLPLACES"
        case sections = "FLUNPACK"
    }

    static func sealed(_ kind: Kind, identity: [UInt8], _ content: [UInt8]) -> [UInt8] {
        var result = Encoder()
        result.bytes.reserveCapacity(headerSize + identity.count + content.count)
        result.bytes += kind.rawValue.utf8
        result.add(SymbolCache.version)
        result.add(UInt32(clamping: identity.count))
        result.add(UInt64(content.count))
        result.add(UInt64(0))
        result.bytes += identity
        result.bytes += content
        let digest = result.bytes.withUnsafeBytes {
            Digest.xxh64(UnsafeRawBufferPointer(rebasing: $0[headerSize...]))
        }
        withUnsafeBytes(of: digest.littleEndian) {
            result.bytes.replaceSubrange((headerSize - 8)..<headerSize, with: $0)
        }
        return result.bytes
    }

    /// The parcel at the beginning of the bytes; nil if it is damaged, of another version, or for
    /// other files.
    init?(_ kind: Kind, _ bytes: UnsafeRawBufferPointer, identity: [UInt8]) {
        var cursor = ByteCursor(bytes, at: 8)
        guard bytes.prefix(8).elementsEqual(kind.rawValue.utf8),
            cursor.number(UInt32.self) == SymbolCache.version,
            Int(cursor.number(UInt32.self)) == identity.count,
            let length = Int(exactly: cursor.number(UInt64.self))
        else { return nil }
        let digest = cursor.number(UInt64.self)
        let start = Self.headerSize + identity.count
        // Checked before the digest, which takes longer: most mismatches are found here.
        guard !cursor.isBroken, start <= bytes.count, length <= bytes.count - start,
            bytes[Self.headerSize..<start].elementsEqual(identity)
        else { return nil }
        size = start + length
        let sealed = UnsafeRawBufferPointer(rebasing: bytes[Self.headerSize..<size])
        guard Digest.xxh64(sealed) == digest else { return nil }
        content = UnsafeRawBufferPointer(rebasing: bytes[start..<size])
    }

    /// Writes numbers one after another.
    struct Encoder {
        var bytes: [UInt8] = []

        mutating func add<Number: FixedWidthInteger>(_ number: Number) {
            withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
        }
    }
}
