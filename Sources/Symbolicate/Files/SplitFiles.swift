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
            let handle = DwarfHandle.open(debug.file)
        else { return nil }
        defer { dwarf_end(handle) }
        guard let name = missingFile(of: handle, debug.file) else { return nil }
        let package = debug.path + ".dwp"
        return access(package, F_OK) == 0
            ? ModuleRemark(.unreadPackage, package) : ModuleRemark(.missingSplitFile, name)
    }

    private static func missingFile(of handle: OpaquePointer, _ file: ElfFile) -> String? {
        var name: String?
        var count = 0
        UnitRoot.forEach(in: handle) { unit, type, root in
            if type == DW_UT_skeleton,
                DwarfHandle.splitRoot(of: unit, root: root, file) == nil
            {
                name = root.splitFileName ?? "its file"
            }
            count += 1
            return name == nil && count < mostUnits
        }
        return name
    }
}
