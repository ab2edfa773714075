internal import CElfutils
internal import CSystem
internal import Glibc
internal import ProfileModel
internal import System

/// Why a file is not read.
package enum ELFFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It could not be opened: the `errno`.
    case cannotOpen(Int32)
    /// A directory, device or pipe; not ELF; or not for little-endian machines.
    case notUsable
    /// It was replaced after the recording, or is another file with the same name.
    case otherBuildID

    package var description: String {
        switch self {
        case .cannotOpen(let number): String(cString: strerror(number))
        case .notUsable: "not a little-endian ELF file"
        case .otherBuildID: "not the file that was recorded (the build id differs)"
        }
    }
}

/// An open ELF file, read through libelf. Its content is not trusted: parts outside the file are
/// empty.
///
/// Threads may share a mapped file: its headers are read when it is opened.
///
/// Unsafe code: libelf's handle is owned here. Returned bytes are valid while this lives.
package final class ELFFile {
    /// How to read a file's bytes.
    package enum Access {
        /// Map the whole file. If the file is truncated later, missing bytes are 0, and
        /// ``ELFFile/wasCutShort`` is true.
        case mapped
        /// Read only the requested bytes: for files of which little is needed.
        case read
    }

    /// libelf's handle.
    package let handle: OpaquePointer
    /// `EM_…`.
    package let machine: UInt16
    /// True if it is for 32-bit programs (x32 included): see ``NarrowSymbols``.
    package let isNarrow: Bool
    /// Its program headers.
    package let segments: [ELFSegment]
    /// Its section headers in the order of the file, including the empty first one, so that indices
    /// agree.
    package private(set) lazy var sections = readSections()
    /// The file's status; all 0 for an image in memory.
    private let status: stat
    /// Stays open with the file: through `/proc/self/fd`, libdw finds files next to it. nil: it is in
    /// memory, or mapped because there are too few descriptors.
    private let descriptor: Descriptor?
    /// Where the file was when it was opened, if it is not kept open.
    private let openedPath: String?
    /// True if all its bytes are in memory.
    private let isInMemory: Bool
    /// The symbol tables of a narrow file that is mapped.
    private var narrowSymbols: NarrowSymbols?
    /// The owner of the memory that an image is in.
    private let owner: AnyObject?
    /// Guards the mapped bytes: if the file is truncated later, we must not crash. -1: nothing is
    /// mapped.
    private let guardNumber: CInt

    private static let mostSegments = 512

    /// Opens the file at `path`, if it is a regular one. A program may have mapped a device, and
    /// the path may now lead to a pipe.
    package convenience init(path: String, access: Access = .mapped) throws(ELFFileError) {
        let descriptor = try Self.open(path)
        // A program may map hundreds of files, and few may be open at once.
        let mayStayOpen = DescriptorReserve.leaves(descriptor.number)
        _ = elf_version(UInt32(EV_CURRENT))
        let (handle, guardNumber) = Self.begin(descriptor.number, mayStayOpen ? access : .mapped)
        let isMapped = guardNumber >= 0
        if isMapped, !mayStayOpen { elf_cntl(handle, ELF_C_FDDONE) }
        try self.init(
            handle, descriptor: descriptor, staysOpen: mayStayOpen || !isMapped,
            guardNumber: guardNumber, isInMemory: isMapped)
    }

    private static func open(_ path: String) throws(ELFFileError) -> Descriptor {
        do throws(Errno) {
            return try Descriptor(regular: path)
        } catch {
            throw error.number == EMEDIUMTYPE ? .notUsable : .cannotOpen(error.number)
        }
    }

    /// If no guard is free, the file is read, not mapped.
    private static func begin(
        _ descriptor: CInt, _ access: Access
    ) -> (handle: OpaquePointer?, guardNumber: CInt) {
        if access == .mapped {
            fl_guard_begin()
            defer { fl_guard_end() }
            guard let handle = elf_begin(descriptor, ELF_C_READ_MMAP, nil) else { return (nil, -1) }
            var size = 0
            guard let start = elf_rawfile(handle, &size), size > 0 else { return (handle, -1) }
            let guardNumber = fl_guard(start, size)
            guard guardNumber < 0 else { return (handle, guardNumber) }
            elf_end(handle)
        }
        return (elf_begin(descriptor, ELF_C_READ, nil), -1)
    }

    /// An image that is in memory already, and stays there as long as `owner` lives; nil: for ever.
    package convenience init(
        image: UnsafeMutableRawBufferPointer, owner: AnyObject? = nil
    ) throws(ELFFileError) {
        _ = elf_version(UInt32(EV_CURRENT))
        let start = image.baseAddress?.assumingMemoryBound(to: CChar.self)
        try self.init(elf_memory(start, image.count), owner: owner, isInMemory: true)
    }

    private init(
        _ handle: OpaquePointer?, descriptor: consuming Descriptor? = nil, staysOpen: Bool = true,
        owner: AnyObject? = nil, guardNumber: CInt = -1, isInMemory: Bool
    ) throws(ELFFileError) {
        guard let handle, let machine = Self.machine(of: handle) else {
            fl_unguard(guardNumber)
            elf_end(handle)
            throw .notUsable
        }
        self.handle = handle
        self.machine = machine
        status = (try? descriptor?.status()) ?? stat()
        openedPath = staysOpen ? nil : descriptor?.path()
        if staysOpen { self.descriptor = descriptor } else { self.descriptor = nil }
        self.owner = owner
        self.guardNumber = guardNumber
        self.isInMemory = isInMemory
        let isNarrow = gelf_getclass(handle) == ELFCLASS32
        self.isNarrow = isNarrow
        segments = Self.segments(of: handle).filter { !isNarrow || $0.isLoaded }
        if isInMemory { _ = sections }
        if isInMemory, isNarrow { narrowSymbols = NarrowSymbols(handle, sections) }
    }

    deinit {
        fl_unguard(guardNumber)
        elf_end(handle)
    }

    private static func machine(of handle: OpaquePointer) -> UInt16? {
        var header = GElf_Ehdr()
        guard elf_kind(handle) == ELF_K_ELF,
            [ELFCLASS64, ELFCLASS32].contains(gelf_getclass(handle)),
            gelf_getehdr(handle, &header) != nil, header.e_ident.5 == ELFDATA2LSB
        else { return nil }
        return header.e_machine
    }

    private static func segments(of handle: OpaquePointer) -> [ELFSegment] {
        var count = 0
        guard elf_getphdrnum(handle, &count) == 0 else { return [] }
        return (0..<min(count, mostSegments)).compactMap { index in
            var header = GElf_Phdr()
            return gelf_getphdr(handle, CInt(index), &header).map { _ in ELFSegment(header) }
        }
    }

    private func readSections() -> [ELFSection] {
        var (count, names) = (0, 0)
        var file = GElf_Ehdr()
        // libelf assumes the usual size of headers, whatever the file says.
        let size = isNarrow ? MemoryLayout<Elf32_Shdr>.size : MemoryLayout<Elf64_Shdr>.size
        guard gelf_getehdr(handle, &file) != nil, Int(file.e_shentsize) == size,
            elf_getshdrnum(handle, &count) == 0
        else { return [] }
        let hasNames = elf_getshdrstrndx(handle, &names) == 0
        var result: [ELFSection] = []
        for index in 0..<count {
            var header = GElf_Shdr()
            guard let place = elf_getscn(handle, index), gelf_getshdr(place, &header) != nil
            else { break }
            let name = hasNames ? elf_strptr(handle, names, Int(header.sh_name)) : nil
            var section = ELFSection(header, name: name.map { String(cString: $0) } ?? "")
            if isNarrow, !section.isOfAnyClass { section = ELFSection(GElf_Shdr(), name: "") }
            result.append(section)
        }
        return result
    }

    // MARK: Identity

    /// True if part of the file was missing when it was read: then its content is not trusted.
    package var wasCutShort: Bool { fl_guard_was_hit(guardNumber) == 1 }

    /// 0 for an image in memory.
    package var inode: UInt64 { UInt64(status.st_ino) }

    /// Where the open file is now; nil for an image in memory.
    package var path: String? { descriptor?.path() ?? openedPath }

    /// The GNU build id, at most 64 bytes; empty if there is none.
    package var buildID: [UInt8] {
        var start: UnsafeRawPointer?
        let length = dwelf_elf_gnu_build_id(handle, &start)
        guard 1...64 ~= length, let start else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: length))
    }

    /// Tells this file from another one at the same path: its size, its time of change, and its
    /// build id.
    package var identity: String {
        let changed = status.st_mtim
        return "\(status.st_size) \(changed.tv_sec).\(changed.tv_nsec) \(buildID.hex)"
    }

    /// The GNU build id, in hexadecimal, of the file at a path; nil: it has none, or cannot be
    /// read.
    package static func buildID(ofFile path: String) -> String? {
        guard let file = try? ELFFile(path: path, access: .read), !file.buildID.isEmpty else {
            return nil
        }
        return file.buildID.hex
    }

    // MARK: Bytes

    /// The bytes of the whole file.
    package var contents: UnsafeRawBufferPointer {
        var size = 0
        let start = elf_rawfile(handle, &size)
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : size)
    }

    /// Bytes from an offset in the file on; fewer if the file ends.
    ///
    /// Not read through libelf: it keeps every piece that it ever read in a list, and walks that
    /// whole list each time.
    package func bytes(from offset: UInt64, count: Int) -> [UInt8] {
        guard count > 0 else { return [] }
        if !isInMemory { return descriptor?.known(at: offset, count: count) ?? [] }
        let contents = contents
        guard offset < UInt64(contents.count) else { return [] }
        return Array(contents[Int(offset)...].prefix(count))
    }

    /// The bytes at one of the file's own addresses once it is mapped, before relocation; fewer if
    /// the file has no more.
    package func mapped(at address: UInt64, count: Int) -> [UInt8] {
        guard let segment = segments.first(where: { $0.isLoaded && $0.holds(address) }) else {
            return []
        }
        let distance = address - segment.address
        let (start, overflows) = segment.offset.addingReportingOverflow(distance)
        let size = min(UInt64(max(count, 0)), segment.fileSize - distance)
        return overflows ? [] : bytes(from: start, count: Int(size))
    }

    /// The same; nil unless all bytes are there.
    package func bytes(at address: UInt64, count: Int) -> [UInt8]? {
        let bytes = mapped(at: address, count: count)
        return bytes.count == count ? bytes : nil
    }

    /// A section's bytes; empty if it has none in the file, is outside the file, or is compressed.
    package func bytes(ofSection index: Int) -> UnsafeRawBufferPointer {
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        guard sections.indices.contains(index), !sections[index].isEmptyOnDisk,
            sections[index].flags & UInt64(SHF_COMPRESSED) == 0
        else { return nothing }
        if isNarrow, sections[index].isSymbolTable { return narrowSymbols?[index] ?? nothing }
        guard let section = elf_getscn(handle, index), let data = elf_rawdata(section, nil),
            let start = data.pointee.d_buf
        else { return nothing }
        return UnsafeRawBufferPointer(start: start, count: data.pointee.d_size)
    }

    /// The index of the first section with this name; nil if there is none.
    package func index(ofSection name: String) -> Int? {
        sections.firstIndex { $0.name == name }
    }

    /// The dynamic linker that the file names (PT_INTERP); nil for a static program, and for most
    /// libraries.
    package var interpreter: String? {
        guard let segment = segments.first(where: \.isInterpreter) else { return nil }
        let size = Int(min(segment.fileSize, UInt64(PATH_MAX)))
        let name = bytes(from: segment.offset, count: size).prefix { $0 != 0 }
        return name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
    }
}

extension ELFFile {
    /// The kernel's vdso in this process: all processes have the same one, and no file contains it.
    package static func vdso() throws(ELFFileError) -> ELFFile {
        let address = UInt(getauxval(UInt(AT_SYSINFO_EHDR)))
        guard let start = UnsafeMutableRawPointer(bitPattern: address) else {
            throw .cannotOpen(ENOENT)
        }
        // Its section headers are outside the segments, but on mapped pages: the kernel maps the
        // whole file.
        let header = start.loadUnaligned(as: Elf64_Ehdr.self)
        guard header.e_shoff < 1 << 16 else { throw .notUsable }
        let size = Int(header.e_shoff) + Int(header.e_shnum) * Int(header.e_shentsize)
        return try ELFFile(image: UnsafeMutableRawBufferPointer(start: start, count: size))
    }
}

extension Descriptor {
    fileprivate func path() -> String? {
        guard let path = realpath("/proc/self/fd/\(number)", nil) else { return nil }
        defer { free(path) }
        return String(cString: path)
    }
}
