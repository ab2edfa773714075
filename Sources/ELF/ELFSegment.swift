internal import CElfutils

/// A program header (elf(5), `Elf64_Phdr`) with the file's numbers, none of which is trusted.
package struct ELFSegment: Hashable, Sendable {
    /// `PT_…`.
    package var type: UInt32
    /// `PF_…`.
    package var flags: UInt32
    /// Where it begins in the file, in bytes.
    package var offset: UInt64
    package var address: UInt64
    /// In bytes, in the file.
    package var fileSize: UInt64
    /// In bytes, in memory.
    package var memorySize: UInt64

    /// The size of a header in bytes.
    package static let headerSize = MemoryLayout<Elf64_Phdr>.size

    init(_ header: Elf64_Phdr) {
        type = header.p_type
        flags = header.p_flags
        offset = header.p_offset
        address = header.p_vaddr
        fileSize = header.p_filesz
        memorySize = header.p_memsz
    }

    /// All complete headers in a table's bytes.
    package static func all(in table: ArraySlice<UInt8>) -> [ELFSegment] {
        // Unsafe code: each header lies within the bytes.
        table.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count - headerSize + 1, by: headerSize).map {
                ELFSegment(bytes.loadUnaligned(fromByteOffset: $0, as: Elf64_Phdr.self))
            }
        }
    }

    package var isLoaded: Bool { type == UInt32(PT_LOAD) }
    package var isInterpreter: Bool { type == UInt32(PT_INTERP) }
    package var isNotes: Bool { type == UInt32(PT_NOTE) }
    package var isExecutable: Bool { flags & UInt32(PF_X) != 0 }
    package var isWritable: Bool { flags & UInt32(PF_W) != 0 }

    /// True if the file has a byte for the address.
    package func holds(_ address: UInt64) -> Bool {
        address >= self.address && address - self.address < fileSize
    }
}
