internal import CElfutils

/// One `.symtab` or `.dynsym` with its strings, valid while its file lives. Public, so that reading
/// entries is inlined into other modules: libraries have 300,000 of them.
public struct ELFSymbolTable {
    @usableFromInline let symbols: UnsafeRawBufferPointer
    @usableFromInline let strings: UnsafeRawBufferPointer
    /// `.dynsym`, which lacks local symbols.
    package let isDynamic: Bool

    /// A symbol in the table (elf(5), `Elf64_Sym`). Nothing in it is trusted.
    public struct Entry: BitwiseCopyable {
        /// The offset of its name in the table's strings.
        public var name: UInt32
        @usableFromInline var information: UInt8
        private var visibility: UInt8
        /// The index of its section, or a `SHN_…`.
        public var section: UInt16
        public var address: UInt64
        /// In bytes; 0: unknown.
        public var size: UInt64

        /// `STT_…`.
        @inlinable public var type: UInt8 { information & 0xF }
        /// `STB_…`.
        @inlinable public var binding: UInt8 { information >> 4 }
        /// True if this file defines the symbol, and does not expect it from another file.
        @inlinable public var isDefined: Bool { section != 0 }
    }

    /// The number of entries, including the empty first one.
    @inlinable public var count: Int { symbols.count / MemoryLayout<Entry>.size }

    /// nil past the last entry.
    @inlinable
    public func entry(_ index: Int) -> Entry? {
        guard index >= 0, index < count else { return nil }
        return symbols.loadUnaligned(
            fromByteOffset: index * MemoryLayout<Entry>.size, as: Entry.self)
    }

    /// - Parameter offset: from an entry.
    /// - Returns: the name without its zero byte; nil if there is none.
    package func name(at offset: UInt32) -> UnsafeRawBufferPointer? {
        strings.text(at: Int(offset))
    }

    /// The file's own address of a symbol that it defines; nil if it defines none with this name.
    package func address(of name: StaticString) -> UInt64? {
        for index in 0..<count {
            if let entry = entry(index), entry.isDefined,
                strings.hasText(name, at: Int(entry.name))
            {
                return entry.address
            }
        }
        return nil
    }
}

extension ELFFile {
    /// The file's symbol tables that have more than the empty first entry.
    package var symbolTables: [ELFSymbolTable] { sections.indices.compactMap(symbolTable) }

    /// The tables of one kind; the bytes of the other kind are not read.
    package func symbolTables(isDynamic: Bool) -> [ELFSymbolTable] {
        let type = UInt32(isDynamic ? SHT_DYNSYM : SHT_SYMTAB)
        return sections.indices.filter { sections[$0].type == type }.compactMap(symbolTable)
    }

    private func symbolTable(inSection index: Int) -> ELFSymbolTable? {
        let type = sections[index].type
        guard type == UInt32(SHT_SYMTAB) || type == UInt32(SHT_DYNSYM) else { return nil }
        let table = ELFSymbolTable(
            symbols: bytes(ofSection: index), strings: bytes(ofSection: Int(sections[index].link)),
            isDynamic: type == UInt32(SHT_DYNSYM))
        return table.count > 1 ? table : nil
    }
}
