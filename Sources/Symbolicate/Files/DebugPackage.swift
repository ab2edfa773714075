internal import ELF
internal import Glibc
import ProfileModel

/// An open package (`.dwp`) with those parts of a program's units that are in other files.
struct DebugPackage {
    let path: String
    let file: ELFFile
    let index: PackageIndex

    /// - Throws: also if it has no index, or one of an unknown version.
    init(path: String) throws(ELFFileError) {
        file = try ELFFile(path: path)
        var reader = SectionReader(file)
        guard let index = PackageIndex(reader.bytes(".debug_cu_index")) else { throw .notUsable }
        self.path = path
        self.index = index
    }
}

extension DebugFileSearch {
    /// The package of the units in a debug file: next to this file, or next to the module. The
    /// units' ids tell whether it belongs to them.
    /// - Parameter refused: set if there is a package, but it cannot be read.
    func findPackage(
        of debug: DebugFile, _ module: ELFFile?, at path: String,
        refused: inout ModuleRemark?
    ) -> DebugPackage? {
        guard debug.file.mayBeSplit else { return nil }
        for candidate in packageCandidates(of: [debug.path, debug.file.path, path, module?.path]) {
            do throws(ELFFileError) {
                let package = try DebugPackage(path: candidate)
                refused = nil
                return package
            } catch .cannotOpen(ENOENT), .cannotOpen(ENOTDIR) {
                continue
            } catch {
                refused = ModuleRemark(.unreadPackage, candidate)
            }
        }
        return nil
    }

    /// `NAME.dwp` for `NAME`, and for `NAME.debug` also without that ending. The paths come both as
    /// they are and with links resolved.
    private func packageCandidates(of paths: [String?]) -> [String] {
        var result: [String] = []
        for path in paths.compactMap(\.self) {
            let bare = path.hasSuffix(".debug") ? String(path.dropLast(6)) : nil
            for name in [path, bare].compactMap(\.self) where !result.contains(name + ".dwp") {
                result.append(name + ".dwp")
            }
        }
        return placed(result)
    }
}

extension ELFFile {
    /// True if the file has addresses for split units.
    var mayBeSplit: Bool {
        hasContents(ofSection: ".debug_addr") || hasContents(ofSection: ".zdebug_addr")
    }
}
