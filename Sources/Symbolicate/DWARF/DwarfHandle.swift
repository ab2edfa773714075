internal import Architecture
internal import CElfutils
internal import ELF
internal import Glibc

/// libdw opens files that the debug information names: those of split units, and the common file of
/// `dwz`. The author of the information chooses these names. Opening a pipe waits for its writer,
/// or releases a waiting one; opening a device may do anything. This keeps libdw from both.
enum DwarfHandle {
    /// libdw's handle of a file; nil if the file has no DWARF. The caller must set the common file
    /// if there is one.
    static func open(_ file: ELFFile) -> OpaquePointer? {
        guard let handle = dwarf_begin_elf(file.handle, DWARF_C_READ, nil) else { return nil }
        setCommonFile(of: handle)
        return handle
    }

    private static func setCommonFile(of handle: OpaquePointer) {
        dwarf_setalt(handle, noCommonFile)
    }

    /// If a common file is set, libdw looks for none.
    private nonisolated(unsafe) static let noCommonFile: OpaquePointer? = {
        var image = emptyImage
        let size = image.count
        // Kept as long as the process lives.
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: size)
        memcpy(copy, &image, size)
        _ = elf_version(UInt32(EV_CURRENT))
        return elf_memory(copy, size).flatMap { dwarf_begin_elf($0, DWARF_C_READ, nil) }
    }()

    /// An ELF file with a section that makes libdw accept it as one with DWARF.
    private static var emptyImage: [UInt8] {
        let names = Array("\0.debug_frame\0.shstrtab\0".utf8)
        let headers = 64 + (names.count + 7) / 8 * 8
        func bytes(_ numbers: [(value: Int, size: Int)]) -> [UInt8] {
            numbers.flatMap { number in
                (0..<number.size).map { UInt8(truncatingIfNeeded: number.value >> (8 * $0)) }
            }
        }
        func section(name: Int, type: Int32, offset: Int, size: Int) -> [UInt8] {
            bytes([
                (name, 4), (Int(type), 4), (0, 8), (0, 8), (offset, 8), (size, 8), (0, 4), (0, 4),
                (1, 8), (0, 8),
            ])
        }
        var image: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1] + [UInt8](repeating: 0, count: 9)
        image += bytes([
            (Int(ET_REL), 2), (Int(Machine.elfNumber), 2), (1, 4), (0, 8), (0, 8), (headers, 8),
            (0, 4),
            (64, 2), (0, 2), (0, 2), (64, 2), (3, 2), (2, 2),
        ])
        image += names + [UInt8](repeating: 0, count: headers - 64 - names.count)
        image += section(name: 0, type: SHT_NULL, offset: 0, size: 0)
        image += section(name: 1, type: SHT_PROGBITS, offset: 64, size: 4)
        image += section(name: 14, type: SHT_STRTAB, offset: 64, size: names.count)
        return image
    }

    // MARK: Split files

    /// The id that a unit shares with the unit in the other file; nil if it has none.
    static func splitID(of unit: OpaquePointer) -> UInt64? {
        var id: UInt64 = 0
        guard dwarf_cu_info(unit, nil, nil, nil, nil, &id, nil, nil) == 0 else { return nil }
        return id
    }

    /// The root entry of a unit's other part, if libdw finds it, and needs only regular files for
    /// that.
    static func splitRoot(
        of unit: OpaquePointer, root: Dwarf_Die, _ file: ELFFile
    ) -> Dwarf_Die? {
        var split = Dwarf_Die()
        guard splitFilesAreRegular(root, file),
            dwarf_cu_info(unit, nil, nil, nil, &split, nil, nil, nil) == 0, split.addr != nil
        else { return nil }
        // The split file names a common file of its own.
        dwarf_cu_getdwarf(split.cu).map(setCommonFile)
        return split
    }

    /// True if each file that libdw would try to open is regular, or missing. (A file that replaces
    /// it at that very moment would be opened.)
    private static func splitFilesAreRegular(_ root: Dwarf_Die, _ file: ELFFile) -> Bool {
        guard let name = root.splitFileName else { return false }
        let path = file.path
        let folder = path.flatMap { path in path.lastIndex(of: "/").map { String(path[...$0]) } }
        let compiled = root.text(DW_AT_comp_dir).map { String(cString: $0) + "/" } ?? ""
        // As in libdw: relative names start from the folder of the file.
        let names = [name, compiled + name].map { name in
            name.hasPrefix("/") ? name : folder.map { $0 + name }
        }
        // elfutils looks for packages since 0.191.
        return (names + [path.map { $0 + ".dwp" }]).allSatisfy { candidate in
            var status = stat()
            guard let candidate, stat(candidate, &status) == 0 else { return true }
            return status.st_mode & S_IFMT == S_IFREG
        }
    }
}

extension Dwarf_Die {
    /// The file name of a unit whose functions are in another file.
    var splitFileName: String? {
        (text(DW_AT_dwo_name) ?? text(DW_AT_GNU_dwo_name)).map { String(cString: $0) }
    }
}
