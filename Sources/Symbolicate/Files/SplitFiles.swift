internal import CElfutils
internal import Glibc
import ProfileModel

/// Debug information that the compiler left in `.dwo` files (`-gsplit-dwarf`). libdw finds them
/// where the compiler put them, or beside the program; packages of them (`.dwp`) it cannot read.
enum SplitFiles {
    /// Units beyond these are not asked for their files: one that is missing tells enough.
    private static let mostUnits = 64

    /// What is missing; nil when nothing is split off, or the files are there.
    static func remark(on debug: DebugFile) -> ModuleRemark? {
        // Units that are split off have their addresses there. What is compressed would have to
        // be unpacked first.
        guard debug.file.hasContents(ofSection: ".debug_addr"),
            let index = debug.file.index(ofSection: ".debug_info"),
            debug.file.sections[index].flags & UInt64(SHF_COMPRESSED) == 0,
            let handle = dwarf_begin_elf(debug.file.handle, DWARF_C_READ, nil)
        else { return nil }
        defer { dwarf_end(handle) }
        guard let name = missingFile(of: handle) else { return nil }
        let package = debug.path + ".dwp"
        return access(package, F_OK) == 0
            ? ModuleRemark(.unreadPackage, package) : ModuleRemark(.missingSplitFile, name)
    }

    private static func missingFile(of handle: OpaquePointer) -> String? {
        var current: OpaquePointer?
        var next: OpaquePointer?
        var type: UInt8 = 0
        var root = Dwarf_Die()
        var split = Dwarf_Die()
        for _ in 0..<mostUnits {
            guard dwarf_get_units(handle, current, &next, nil, &type, &root, &split) == 0 else {
                return nil
            }
            if Int(type) == DW_UT_skeleton, split.addr == nil {
                let name = root.text(DW_AT_dwo_name) ?? root.text(DW_AT_GNU_dwo_name)
                return name.map { String(cString: $0) } ?? "its file"
            }
            current = next
        }
        return nil
    }
}
