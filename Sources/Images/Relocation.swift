import ProfileModel

/// An entry of a table of relocations with addends (elf(5), `Elf64_Rela`).
package struct Relocation {
    /// The position of the entry in the table, in bytes.
    package var offset: Int
    /// The address in the file that is relocated.
    package var place: UInt64
    /// The relocation's type, and its symbol in the upper 32 bits.
    package var kind: UInt64
    package var addend: UInt64

    /// The offset of the addend in an entry.
    package static let addendOffset: UInt64 = 16
    /// A larger table takes too long to read while the program is stopped.
    package static let mostBytes: UInt64 = 1 << 22

    /// All complete entries in a table's bytes.
    package static func all(in bytes: [UInt8]) -> some Sequence<Relocation> {
        stride(from: 0, to: bytes.count - 23, by: 24).lazy.compactMap { offset in
            guard let place = bytes.littleEndianWord(at: offset),
                let kind = bytes.littleEndianWord(at: offset + 8),
                let addend = bytes.littleEndianWord(at: offset + 16)
            else { return nil }
            return Relocation(offset: offset, place: place, kind: kind, addend: addend)
        }
    }
}
