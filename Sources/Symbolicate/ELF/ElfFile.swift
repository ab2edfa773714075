internal import CElfutils
internal import CSystem
internal import Glibc
internal import ProfileModel

// Raw memory: this file hands out pointers into a mapped file. They are valid while the
// `ElfFile` lives, and nothing outside of this folder and `DWARF` keeps one.

/// Why a file gives no symbols.
package enum ElfFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// `open` or `fstat` failed, with its `errno`.
    case cannotOpen(Int32)
    /// A directory, device or pipe; or not ELF, or not of 64-bit little-endian machines.
    case notUsable
    /// It was replaced since the recording, or is another file of the same name.
    case otherBuildID

    package var description: String {
        switch self {
        case .cannotOpen(let number): String(cString: strerror(number))
        case .notUsable: "not a 64-bit ELF file"
        case .otherBuildID: "not the file that was recorded (the build id differs)"
        }
    }
}

/// A section's header, its numbers as the file has them: nothing in it is to be trusted.
struct ElfSection {
    var name: String
    var type: UInt32
    var flags: UInt64
    var address: UInt64
    var size: UInt64
    var entrySize: UInt64
    /// The index of the section that this one refers to (a symbol table's string table).
    var link: UInt32

    /// One past the last address.
    var end: UInt64 { address.addingReportingOverflow(size).overflow ? .max : address &+ size }

    var isCode: Bool {
        let wanted = UInt64(SHF_ALLOC | SHF_EXECINSTR)
        return flags & wanted == wanted && size > 0
    }

    var isEmptyOnDisk: Bool { type == UInt32(SHT_NOBITS) || size == 0 }
}

/// An ELF file mapped into memory, read through libelf.
final class ElfFile {
    /// libelf's handle.
    let handle: OpaquePointer
    let machine: UInt16
    let sections: [ElfSection]
    /// Its size in bytes and when it was last changed, in seconds and nanoseconds; 0 of an image in
    /// memory.
    private let stamp: (size: Int, seconds: Int, nanoseconds: Int)
    /// The file keeps its descriptor while it is open: libdw finds files that lie beside it
    /// through `/proc/self/fd`.
    private let descriptor: CInt
    /// What the memory belongs to that an image lies in.
    private let owner: AnyObject?
    /// Of the mapped bytes: a file that is cut short meanwhile must not end us. -1: nothing is mapped.
    private let guardNumber: CInt

    /// Opens and maps the file at `path`.
    convenience init(path: String) throws(ElfFileError) {
        // What was mapped may be a device, and a path may by now name a pipe.
        let descriptor = fl_open_regular(path, 0)
        guard descriptor >= 0 else {
            throw descriptor == -EMEDIUMTYPE ? .notUsable : .cannotOpen(-descriptor)
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            close(descriptor)
            throw .notUsable
        }
        _ = elf_version(UInt32(EV_CURRENT))
        let (handle, guardNumber) = Self.map(descriptor)
        let changed = status.st_mtim
        try self.init(
            handle: handle, descriptor: descriptor,
            stamp: (Int(status.st_size), changed.tv_sec, changed.tv_nsec),
            guardNumber: guardNumber)
    }

    /// Where no guard is left, the file is read, not mapped.
    private static func map(_ descriptor: CInt) -> (handle: OpaquePointer?, guardNumber: CInt) {
        fl_guard_begin()
        defer { fl_guard_end() }
        guard let handle = elf_begin(descriptor, ELF_C_READ_MMAP, nil) else { return (nil, -1) }
        var size = 0
        guard let start = elf_rawfile(handle, &size), size > 0 else { return (handle, -1) }
        let guardNumber = fl_guard(start, size)
        guard guardNumber < 0 else { return (handle, guardNumber) }
        elf_end(handle)
        return (elf_begin(descriptor, ELF_C_READ, nil), -1)
    }

    /// Whether something of the file was missing when it was read: what it told is not to be
    /// believed.
    var wasCutShort: Bool { fl_guard_was_hit(guardNumber) == 1 }

    /// An image that is in memory already, and stays there as long as `owner` lives; nil: for ever
    /// (the vdso).
    convenience init(
        image: UnsafeMutableRawBufferPointer, owner: AnyObject? = nil
    ) throws(ElfFileError) {
        _ = elf_version(UInt32(EV_CURRENT))
        let start = image.baseAddress?.assumingMemoryBound(to: CChar.self)
        try self.init(
            handle: elf_memory(start, image.count), descriptor: -1, stamp: (0, 0, 0), owner: owner)
    }

    private init(
        handle: OpaquePointer?, descriptor: CInt,
        stamp: (size: Int, seconds: Int, nanoseconds: Int), owner: AnyObject? = nil,
        guardNumber: CInt = -1
    ) throws(ElfFileError) {
        guard let handle, let machine = Self.machine(of: handle) else {
            fl_unguard(guardNumber)
            elf_end(handle)
            if descriptor >= 0 { close(descriptor) }
            throw .notUsable
        }
        self.handle = handle
        self.descriptor = descriptor
        self.stamp = stamp
        self.owner = owner
        self.guardNumber = guardNumber
        self.machine = machine
        sections = Self.readSections(of: handle)
    }

    deinit {
        fl_unguard(guardNumber)
        elf_end(handle)
        if descriptor >= 0 { close(descriptor) }
    }

    private static func machine(of handle: OpaquePointer) -> UInt16? {
        var header = GElf_Ehdr()
        guard elf_kind(handle) == ELF_K_ELF, gelf_getclass(handle) == ELFCLASS64,
            gelf_getehdr(handle, &header) != nil, header.e_ident.5 == ELFDATA2LSB
        else { return nil }
        return header.e_machine
    }

    /// In the order of the file, the empty first one included, so that indices agree.
    private static func readSections(of handle: OpaquePointer) -> [ElfSection] {
        var count = 0
        var names = 0
        guard elf_getshdrnum(handle, &count) == 0 else { return [] }
        let hasNames = elf_getshdrstrndx(handle, &names) == 0
        var result: [ElfSection] = []
        for index in 0..<count {
            var header = GElf_Shdr()
            guard let section = elf_getscn(handle, index), gelf_getshdr(section, &header) != nil
            else { break }
            let name = hasNames ? elf_strptr(handle, names, Int(header.sh_name)) : nil
            result.append(ElfSection(header, name: name.map { String(cString: $0) } ?? ""))
        }
        return result
    }

    /// Where the open file is now; nil of an image in memory.
    var path: String? {
        guard descriptor >= 0, let path = realpath("/proc/self/fd/\(descriptor)", nil) else {
            return nil
        }
        defer { free(path) }
        return String(cString: path)
    }

    /// What tells this file from another one that may be at the same path.
    var identity: String {
        "\(stamp.size) \(stamp.seconds).\(stamp.nanoseconds) \(buildID.hex)"
    }

    /// A section's bytes where they are mapped; empty when it has none in the file, lies outside
    /// of it, or is compressed.
    func bytes(ofSection index: Int) -> UnsafeRawBufferPointer {
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        guard sections.indices.contains(index), !sections[index].isEmptyOnDisk,
            sections[index].flags & UInt64(SHF_COMPRESSED) == 0,
            let section = elf_getscn(handle, index), let data = elf_rawdata(section, nil),
            let start = data.pointee.d_buf
        else { return nothing }
        return UnsafeRawBufferPointer(start: start, count: data.pointee.d_size)
    }

    /// The whole file's bytes.
    var contents: UnsafeRawBufferPointer {
        var size = 0
        let start = elf_rawfile(handle, &size)
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : size)
    }

    func index(ofSection name: String) -> Int? {
        sections.firstIndex { $0.name == name }
    }

    /// Whether a section of this name holds something in the file itself.
    func hasContents(ofSection name: String) -> Bool {
        sections.contains { $0.name == name && !$0.isEmptyOnDisk }
    }
}

extension ElfSection {
    init(_ header: GElf_Shdr, name: String) {
        self.name = name
        type = header.sh_type
        flags = header.sh_flags
        address = header.sh_addr
        size = header.sh_size
        entrySize = header.sh_entsize
        link = header.sh_link
    }
}

extension UnsafeRawBufferPointer {
    /// A number of any alignment at `offset`; nil past the end.
    func number<Number: FixedWidthInteger & BitwiseCopyable>(
        _ type: Number.Type, at offset: Int
    ) -> Number? {
        guard offset >= 0, offset <= count - MemoryLayout<Number>.size else { return nil }
        return loadUnaligned(fromByteOffset: offset, as: type)
    }

    /// The NUL-terminated text at `offset`, its bytes without the NUL; nil when it does not end
    /// within these bytes.
    func text(at offset: Int) -> UnsafeRawBufferPointer? {
        guard offset >= 0, offset < count, let start = baseAddress?.advanced(by: offset),
            let end = memchr(start, 0, count - offset)
        else { return nil }
        return UnsafeRawBufferPointer(start: start, count: UnsafeRawPointer(end) - start)
    }
}
