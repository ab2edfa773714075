import ProfileModel

/// An entry of a table of relocations with addends (elf(5), `Elf64_Rela`).
struct Relocation {
    /// In bytes, in the table.
    var offset: Int
    /// What is relocated, as an address of the file.
    var place: UInt64
    /// Its type, and above 32 bits its symbol.
    var kind: UInt64
    var addend: UInt64

    /// Where in an entry the addend is.
    static let addendOffset: UInt64 = 16
    /// A table of more bytes takes long to be read while the program stands.
    static let mostBytes: UInt64 = 1 << 22

    /// All that a table's bytes hold as a whole.
    static func all(in bytes: [UInt8]) -> some Sequence<Relocation> {
        stride(from: 0, to: bytes.count - 23, by: 24).lazy.compactMap { offset in
            guard let place = bytes.littleEndianWord(at: offset),
                let kind = bytes.littleEndianWord(at: offset + 8),
                let addend = bytes.littleEndianWord(at: offset + 16)
            else { return nil }
            return Relocation(offset: offset, place: place, kind: kind, addend: addend)
        }
    }
}
