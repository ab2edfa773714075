internal import ELF

// Raw memory: sections lie in the mapped file, which lives as long as this.

/// Unpacked sections of debug information that are packed in their file, as a ``Parcel`` of the
/// cache: their number, 4 bytes; for each the size of its name, 4 bytes, and its own size, 8 bytes;
/// then each one's name and bytes.
struct UnpackedSections: @unchecked Sendable {
    private let sections: [(name: String, bytes: UnsafeRawBufferPointer)]
    private let file: MappedFile

    /// Larger ones are neither written nor read.
    static let mostBytes = 128 << 20
    /// Smaller ones are unpacked faster than they are read.
    private static let leastBytes = 1 << 16
    private static let most = 64

    /// nil if the file is damaged, of another version, or for other debug information.
    init?(_ file: MappedFile, identity: [UInt8]) {
        guard let parcel = Parcel(.sections, file.bytes, identity: identity) else { return nil }
        let content = parcel.content
        var cursor = ByteCursor(content, at: 0)
        let count = Int(cursor.number(UInt32.self))
        guard count <= Self.most else { return nil }
        var sizes: [(name: Int, bytes: Int)] = []
        for _ in 0..<count {
            let name = Int(cursor.number(UInt32.self))
            sizes.append((name, Int(clamping: cursor.number(UInt64.self))))
        }
        func next(_ size: Int) -> UnsafeRawBufferPointer {
            let start = cursor.position
            cursor.skip(size)
            return UnsafeRawBufferPointer(rebasing: content[start..<cursor.position])
        }
        sections = sizes.map { size in
            let name = String(decoding: next(size.name), as: UTF8.self)
            return (name, next(size.bytes))
        }
        guard !cursor.isBroken, cursor.isAtEnd else { return nil }
        self.file = file
    }

    subscript(name: String) -> UnsafeRawBufferPointer? {
        sections.first { $0.name == name }?.bytes
    }

    /// Empty if the sections are too small, too large, or too many.
    static func encoded(_ sections: [(name: String, bytes: UnsafeRawBufferPointer)]) -> [UInt8] {
        let size = sections.reduce(0) { $0 + $1.bytes.count }
        guard (leastBytes...mostBytes).contains(size), sections.count <= most else { return [] }
        var result = Parcel.Encoder()
        result.bytes.reserveCapacity(size + 64 * sections.count)
        result.add(UInt32(sections.count))
        for section in sections {
            result.add(UInt32(clamping: section.name.utf8.count))
            result.add(UInt64(section.bytes.count))
        }
        for section in sections {
            result.bytes += section.name.utf8
            result.bytes += section.bytes
        }
        return result.bytes
    }
}
