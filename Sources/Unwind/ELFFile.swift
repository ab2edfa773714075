import CElfutils
import CSystem
import Glibc
import GoTables

/// An ELF file opened for its unwind tables. Whatever is wrong with it, questions are answered
/// with "nothing".
///
/// Unsafe code: the libelf handle is owned here.
final class ELFFile {
    let handle: OpaquePointer
    /// -1: it is in memory.
    private let descriptor: Int32
    private let memory: UnsafeRawBufferPointer
    private lazy var segments = loadedSegments()

    /// A file on disk; nil when it is no ELF file, or not the one that was mapped: `inode` tells.
    init?(path: String, inode: UInt64) {
        Self.prepare
        descriptor = fl_open_regular(path, 0)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        // Not mapped: a file that is cut short while we read it must be no SIGBUS.
        guard fstat(descriptor, &status) == 0, inode == 0 || status.st_ino == inode,
            let handle = elf_begin(descriptor, ELF_C_READ, nil)
        else {
            close(descriptor)
            return nil
        }
        guard elf_kind(handle) == ELF_K_ELF else {
            elf_end(handle)
            close(descriptor)
            return nil
        }
        self.handle = handle
        memory = UnsafeRawBufferPointer(start: nil, count: 0)
    }

    /// The kernel's vdso, as this process has it: all processes have the same.
    static func vdso() -> ELFFile? {
        let start = getauxval(UInt(33))  // AT_SYSINFO_EHDR
        guard start != 0, let base = UnsafeMutablePointer<CChar>(bitPattern: UInt(start)) else {
            return nil
        }
        let header = UnsafeRawPointer(base)
        let sections = header.loadUnaligned(fromByteOffset: 40, as: UInt64.self)
        let entrySize = header.loadUnaligned(fromByteOffset: 58, as: UInt16.self)
        let count = header.loadUnaligned(fromByteOffset: 60, as: UInt16.self)
        let size = sections + UInt64(entrySize) * UInt64(count)
        guard size < 1 << 16 else { return nil }
        return ELFFile(memory: base, size: Int(size))
    }

    private init?(memory: UnsafeMutablePointer<CChar>, size: Int) {
        Self.prepare
        descriptor = -1
        guard let handle = elf_memory(memory, size) else { return nil }
        self.handle = handle
        self.memory = UnsafeRawBufferPointer(start: memory, count: size)
    }

    deinit {
        elf_end(handle)
        if descriptor >= 0 { close(descriptor) }
    }

    private static let prepare: Void = {
        _ = elf_version(UInt32(EV_CURRENT))
    }()

    /// What to subtract from an address of the process: the executable segment that holds the
    /// mapping's first byte tells. nil when none does.
    func bias(mappedAt start: UInt64, fileOffset: UInt64) -> UInt64? {
        for header in segments where header.p_flags & UInt32(PF_X) != 0 {
            let pageStart = header.p_offset & ~0xFFF
            if fileOffset >= pageStart, fileOffset < header.p_offset &+ header.p_filesz {
                return start &- (header.p_vaddr &+ (fileOffset &- header.p_offset))
            }
        }
        return nil
    }

    private func loadedSegments() -> [GElf_Phdr] {
        var count = 0
        guard elf_getphdrnum(handle, &count) == 0 else { return [] }
        return (0..<min(count, 512)).compactMap { index in
            var header = GElf_Phdr()
            guard gelf_getphdr(handle, Int32(index), &header) != nil else { return nil }
            return header.p_type == UInt32(PT_LOAD) ? header : nil
        }
    }

    /// The GNU build id; empty without one.
    func buildID() -> [UInt8] {
        var bytes: UnsafeRawPointer?
        let length = dwelf_elf_gnu_build_id(handle, &bytes)
        guard length > 0, length <= 64, let bytes else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: bytes, count: length))
    }

    /// The bytes that the file has at one of its own addresses; nil outside its segments.
    ///
    /// Read without libelf, which keeps every piece that it was ever asked for in a list, and goes
    /// through all of it each time.
    func bytes(at address: UInt64, count: Int) -> [UInt8]? {
        for header in segments {
            guard address >= header.p_vaddr, header.p_filesz >= UInt64(count),
                address &- header.p_vaddr <= header.p_filesz &- UInt64(count),
                let offset = Int(exactly: header.p_offset &+ (address &- header.p_vaddr)),
                let bytes = read(at: offset, count: count)
            else { continue }
            return bytes
        }
        return nil
    }

    /// The addresses of its own from the first segment's begin to the last one's end; nil without any.
    var span: Range<UInt64>? {
        let ends = segments.map { $0.p_vaddr.addingReportingOverflow($0.p_memsz) }
        guard let start = segments.map(\.p_vaddr).min(),
            let end = ends.filter({ !$0.overflow }).map(\.partialValue).max(), start < end
        else { return nil }
        return start..<end
    }

    /// What a program finds in a stretch of the file's own addresses, and cannot change, by where in the
    /// stretch it begins.
    func constants(in range: Range<UInt64>) -> [(place: Int, bytes: [UInt8])] {
        segments.compactMap { header in
            let (end, overflow) = header.p_vaddr.addingReportingOverflow(header.p_filesz)
            guard header.p_flags & UInt32(PF_W) == 0, !overflow, header.p_vaddr < end else {
                return nil
            }
            let part = range.clamped(to: header.p_vaddr..<end)
            guard !part.isEmpty, let bytes = bytes(at: part.lowerBound, count: part.count) else {
                return nil
            }
            return (Int(part.lowerBound - range.lowerBound), bytes)
        }
    }

    /// - Parameter offset: in the file; not negative.
    private func read(at offset: Int, count: Int) -> [UInt8]? {
        guard descriptor >= 0 else {
            guard count <= memory.count, offset <= memory.count - count else { return nil }
            return [UInt8](memory[offset..<offset + count])
        }
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = max(0, pread(descriptor, buffer.baseAddress, count, off_t(offset)))
        }
        return bytes.count == count ? bytes : nil
    }

    /// Calls `body` with the name, address and size of each function in the symbol table.
    ///
    /// - Parameter table: the section's type.
    func forEachFunction(
        in table: UInt32 = UInt32(SHT_SYMTAB),
        _ body: (UnsafePointer<CChar>, UInt64, UInt64) -> Void
    ) {
        forEachSymbol(in: table) { name, symbol in
            guard symbol.st_info & 0xF == UInt8(STT_FUNC) else { return }
            body(name, symbol.st_value, symbol.st_size)
        }
    }

    private func forEachSymbol(
        in table: UInt32, _ body: (UnsafePointer<CChar>, GElf_Sym) -> Void
    ) {
        forEachSection { section, header in
            guard header.sh_type == table, header.sh_entsize > 0,
                let data = elf_getdata(section, nil)
            else { return }
            for index in 0..<Int(clamping: header.sh_size / header.sh_entsize) {
                var symbol = GElf_Sym()
                guard let index = Int32(exactly: index), gelf_getsym(data, index, &symbol) != nil
                else { return }
                guard let name = elf_strptr(handle, Int(header.sh_link), Int(symbol.st_name))
                else { continue }
                body(name, symbol)
            }
        }
    }

    /// The address of its own of a symbol that other files may use; nil without it.
    func exportedAddress(of wanted: String) -> UInt64? {
        var found: UInt64?
        forEachSymbol(in: UInt32(SHT_DYNSYM)) { name, symbol in
            guard found == nil, symbol.st_shndx != UInt16(SHN_UNDEF), strcmp(name, wanted) == 0
            else { return }
            found = symbol.st_value
        }
        return found
    }

    private func forEachSection(_ body: (OpaquePointer, GElf_Shdr) -> Void) {
        var section: OpaquePointer? = elf_nextscn(handle, nil)
        while let current = section {
            var header = GElf_Shdr()
            if gelf_getshdr(current, &header) != nil { body(current, header) }
            section = elf_nextscn(handle, current)
        }
    }

    func hasSection(named names: [String]) -> Bool {
        names.contains { header(ofSection: $0) != nil }
    }

    /// The addresses that a section covers; nil without it.
    func range(ofSection name: String) -> Range<UInt64>? {
        guard let header = header(ofSection: name) else { return nil }
        let (end, overflow) = header.sh_addr.addingReportingOverflow(header.sh_size)
        return overflow ? nil : header.sh_addr..<end
    }

    /// `.eh_frame`, read by us; nil without one.
    func rowTables() -> RowTables? {
        guard let frames = contents(ofSection: ".eh_frame") else { return nil }
        return RowTables(frames, header: contents(ofSection: ".eh_frame_hdr"))
    }

    /// Go's table of functions; nil: it is none of Go's, or not of a version that is known.
    func goFunctions() -> GoFunctionTable? {
        guard hasSection(named: GoFunctionTable.signs) else { return nil }
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        let relocations =
            GoFunctionTable.relocationSections.lazy
            .compactMap { self.contents(ofSection: $0) }.first?.bytes ?? none
        for name in GoFunctionTable.sections {
            guard let section = contents(ofSection: name) else { continue }
            let table = GoFunctionTable.find(
                in: section.bytes, at: section.address, relocations: relocations)
            if table != nil || GoFunctionTable.ownSections.contains(name) { return table }
        }
        return nil
    }

    /// A section's bytes, which libelf keeps as long as the file is open.
    func contents(ofSection name: String) -> TableSection? {
        guard let (section, header) = section(named: name), header.sh_type != UInt32(SHT_NOBITS),
            header.sh_flags & UInt64(SHF_COMPRESSED) == 0, let data = elf_rawdata(section, nil),
            let start = data.pointee.d_buf, data.pointee.d_size > 0,
            let size = Int(exactly: data.pointee.d_size)
        else { return nil }
        return TableSection(
            bytes: UnsafeRawBufferPointer(start: start, count: size), address: header.sh_addr)
    }

    private func header(ofSection name: String) -> GElf_Shdr? { section(named: name)?.header }

    private func section(named wanted: String) -> (section: OpaquePointer, header: GElf_Shdr)? {
        var strings = 0
        guard elf_getshdrstrndx(handle, &strings) == 0 else { return nil }
        var found: (OpaquePointer, GElf_Shdr)?
        forEachSection { section, header in
            guard let name = elf_strptr(handle, strings, Int(header.sh_name)) else { return }
            if strcmp(name, wanted) == 0 { found = (section, header) }
        }
        return found
    }
}
