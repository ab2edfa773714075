internal import ProfileModel

/// Where a 64-bit little-endian ELF file has its program headers: for files in another process's
/// memory. Files on disk are opened as ``ELFFile``.
package struct ELFHeader {
    /// The table's offset in the file, in bytes.
    package var segments: UInt64
    package var segmentCount: Int
    /// The program's first instruction, in the file's own address space.
    package var entry: UInt64

    /// nil if it is another kind of file.
    ///
    /// - Parameter bytes: the file's first 64.
    package init?(_ bytes: [UInt8]) {
        guard bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]),
            let entry = bytes.littleEndianWord(at: 24),
            let offset = bytes.littleEndianWord(at: 32),
            let count = bytes.littleEndianUInt16(at: 56)
        else { return nil }
        (segments, segmentCount, self.entry) = (offset, Int(count), entry)
    }
}
