internal import CElfutils

/// A section's header (elf(5), `Elf64_Shdr`) with the file's numbers, none of which is trusted.
package struct ELFSection {
    /// Empty if unknown.
    package var name: String
    /// `SHT_…`.
    package var type: UInt32
    /// `SHF_…`.
    package var flags: UInt64
    package var address: UInt64
    /// In bytes.
    package var size: UInt64
    package var entrySize: UInt64
    /// The index of the section that this one refers to (a symbol table's string table).
    package var link: UInt32

    init(_ header: GElf_Shdr, name: String) {
        self.name = name
        type = header.sh_type
        flags = header.sh_flags
        address = header.sh_addr
        size = header.sh_size
        entrySize = header.sh_entsize
        link = header.sh_link
    }

    /// One past the last address.
    package var end: UInt64 {
        address.addingReportingOverflow(size).overflow ? .max : address &+ size
    }

    package var isCode: Bool {
        let wanted = UInt64(SHF_ALLOC | SHF_EXECINSTR)
        return flags & wanted == wanted && size > 0
    }

    package var isSymbolTable: Bool {
        type == UInt32(SHT_SYMTAB) || type == UInt32(SHT_DYNSYM)
    }

    /// True if its bytes mean the same in a 32-bit file and in a 64-bit one, or are read as if they
    /// did.
    var isOfAnyClass: Bool {
        isCode || isSymbolTable || type == UInt32(SHT_STRTAB)
            || (name.hasPrefix(".debug_") && flags & UInt64(SHF_COMPRESSED) == 0)
    }

    package var isEmptyOnDisk: Bool { type == UInt32(SHT_NOBITS) || size == 0 }
}
