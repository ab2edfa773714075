internal import ELF
internal import Glibc
import ProfileModel

/// A package (`.dwp`) of what a program's units have in other files, opened.
struct DebugPackage {
    let path: String
    let file: ELFFile
    let index: PackageIndex

    /// - Throws: also when it has no index, or one of a version that is not known.
    init(path: String) throws(ELFFileError) {
        file = try ELFFile(path: path)
        var reader = SectionReader(file)
        guard let index = PackageIndex(reader.bytes(".debug_cu_index")) else { throw .notUsable }
        self.path = path
        self.index = index
    }
}

extension DebugFileSearch {
    /// The package of the units in a debug file: beside it, or beside the module. That it belongs
    /// to them, the units' ids tell.
    /// - Parameter refused: set where there is one, but none that can be read.
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

    /// `NAME.dwp` for `NAME`, and for `NAME.debug` without that ending, too. Links are followed
    /// first, and as they are.
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
    /// Units that are split off have their addresses there.
    var mayBeSplit: Bool {
        hasContents(ofSection: ".debug_addr") || hasContents(ofSection: ".zdebug_addr")
    }
}
