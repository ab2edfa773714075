internal import CElfutils
internal import Glibc

/// The symbol tables of a 32-bit file, with entries in the form of 64-bit files. So such a file
/// gives the names of functions and, by DWARF, their places in the source. Of its other sections,
/// only those are visible that mean the same in both forms (``ELFSection/isOfAnyClass``): it is not
/// used for unwinding.
///
/// Unsafe code: owns the entries.
final class NarrowSymbols {
    private var tables: [Int: UnsafeMutableBufferPointer<GElf_Sym>] = [:]

    /// - Parameter handle: libelf's.
    init(_ handle: OpaquePointer, _ sections: [ELFSection]) {
        for index in sections.indices where sections[index].isSymbolTable {
            guard let section = elf_getscn(handle, index), let data = elf_getdata(section, nil),
                data.pointee.d_buf != nil
            else { continue }
            let count = data.pointee.d_size / MemoryLayout<Elf32_Sym>.size
            guard count > 0, count <= Int(CInt.max) else { continue }
            let entries = UnsafeMutableBufferPointer<GElf_Sym>.allocate(capacity: count)
            entries.initialize(repeating: GElf_Sym())
            for entry in entries.indices {
                gelf_getsym(data, CInt(entry), &entries[entry])
            }
            tables[index] = entries
        }
    }

    deinit {
        for table in tables.values { table.deallocate() }
    }

    /// The bytes of a section's entries; nil: it has none.
    subscript(section: Int) -> UnsafeRawBufferPointer? {
        tables[section].map { UnsafeRawBufferPointer($0) }
    }
}
