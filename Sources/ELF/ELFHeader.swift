internal import ProfileModel

/// Where an ELF file of 64 bits, little-endian, has its program headers: for what is in another process's
/// memory. Files are opened as ``ELFFile``.
package struct ELFHeader {
    /// Where their table is, in bytes behind the file's first.
    package var segments: UInt64
    package var segmentCount: Int

    /// - Parameter bytes: the file's first 64; nil: it is another kind of file.
    package init?(_ bytes: [UInt8]) {
        guard bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]),
            let offset = bytes.littleEndianWord(at: 32),
            let count = bytes.littleEndianUInt16(at: 56)
        else { return nil }
        (segments, segmentCount) = (offset, Int(count))
    }
}
