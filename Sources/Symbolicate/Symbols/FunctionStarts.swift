internal import CElfutils
internal import ELF

// Raw memory: the table is read where the file is mapped.

extension ELFFile {
    /// Where functions start according to the search table of `.eh_frame_hdr`, ascending; empty if
    /// there is none in the encoding that every linker writes.
    ///
    /// Layout (Linux Standard Base, "Exception Frames"): version, three encodings, the address of
    /// `.eh_frame`, the number of entries, then pairs of (start, entry), all 4 bytes, relative to
    /// the section.
    var functionStarts: [UInt64] {
        guard let index = index(ofSection: ".eh_frame_hdr") else { return [] }
        let bytes = bytes(ofSection: index)
        let fourBytesSigned = UInt8(DW_EH_PE_sdata4)
        guard bytes.count >= 12, bytes[0] == 1,
            bytes[1] == UInt8(DW_EH_PE_pcrel) | fourBytesSigned,
            bytes[2] == UInt8(DW_EH_PE_udata4),
            bytes[3] == UInt8(DW_EH_PE_datarel) | fourBytesSigned,
            let count = bytes.number(UInt32.self, at: 8)
        else { return [] }
        let entries = min(Int(count), (bytes.count - 12) / 8)
        let base = sections[index].address
        return (0..<entries).compactMap { entry in
            bytes.number(Int32.self, at: 12 + entry * 8).map { relative in
                base &+ UInt64(bitPattern: Int64(relative))
            }
        }.sorted()
    }
}
