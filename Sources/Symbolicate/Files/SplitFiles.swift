internal import CElfutils
internal import ELF
import ProfileModel

/// Where to look for `.dwo` files, as libdw does: where the compiler put them, and, if their names
/// are relative, also relative to the program.
struct SplitFileSearch: Sendable {
    private let search: DebugFileSearch
    /// The folder of the debug file; nil if there is none.
    private let folder: String?

    init(_ debug: DebugFile, _ search: DebugFileSearch) {
        self.search = search
        let path = debug.file.path ?? debug.path
        folder = path.lastIndex(of: "/").map { String(path[..<$0]) }
    }

    /// The possible paths of the file that a unit names.
    func candidates(_ name: String, compiledIn place: String?) -> [String] {
        guard !name.hasPrefix("/") else { return search.placed([name]) }
        let beside = folder.map { ["\($0)/\(name)"] } ?? []
        guard let place, place.hasPrefix("/") else { return beside }
        return beside + search.placed(["\(place)/\(name)"])
    }
}

/// Remarks on debug information that the compiler left in other files (`-gsplit-dwarf`).
enum SplitFiles {
    /// At most this many units are checked for their files: one missing file is enough for a
    /// remark.
    private static let mostUnits = 64

    /// Names a missing file; nil if no unit is split, or no file is missing.
    static func remark(on debug: DebugFile, _ package: DebugPackage?) -> ModuleRemark? {
        // A compressed section would have to be unpacked first.
        guard debug.file.mayBeSplit, let index = debug.file.index(ofSection: ".debug_info"),
            debug.file.sections[index].flags & UInt64(SHF_COMPRESSED) == 0,
            let handle = DwarfHandle.open(debug.file)
        else { return nil }
        defer { dwarf_end(handle) }
        let found = survey(handle, debug.file, package)
        guard let name = found.missing else { return nil }
        if let package, !found.isPackageUsed {
            return ModuleRemark(.otherDebugFile, package.path)
        }
        return ModuleRemark(.missingSplitFile, name)
    }

    private struct Survey {
        /// The file of the first unit whose other part was not found.
        var missing: String?
        /// True if any unit's other part is in the package.
        var isPackageUsed = false
    }

    private static func survey(
        _ handle: OpaquePointer, _ file: ELFFile, _ package: DebugPackage?
    ) -> Survey {
        var result = Survey()
        var count = 0
        UnitRoot.forEach(in: handle) { unit, type, root in
            if type == DW_UT_skeleton {
                let id = DwarfHandle.splitID(of: unit)
                if let id, let package, package.index.contains(id) {
                    result.isPackageUsed = true
                } else if result.missing == nil,
                    DwarfHandle.splitRoot(of: unit, root: root, file) == nil
                {
                    result.missing = root.splitFileName ?? "its file"
                }
            }
            count += 1
            let isSettled = result.missing != nil && (package == nil || result.isPackageUsed)
            return !isSettled && count < mostUnits
        }
        return result
    }
}
