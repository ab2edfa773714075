import ELF
import Glibc
package import ProfileModel

/// The files whose code is mapped, with their unwind tables: for one process, or for several, which
/// mostly map the same files. A file's module has one number for all of them.
///
/// For one thread only.
package final class MappedFiles {
    package private(set) var modules: [Module] = []
    private var files: [ModuleIndex: ELFFile] = [:]
    /// Files of 32-bit programs. We unwind nothing with them.
    private var narrow: [ModuleIndex: ELFFile] = [:]
    private var tables: [ModuleIndex: FrameTables] = [:]
    private var indices: [Key: ModuleIndex] = [:]

    /// The path and the inode are not enough: a program that is compiled, run and removed
    /// repeatedly often gets the same inode.
    private struct Key: Hashable {
        var path: String
        var inode: UInt64
        var buildID: [UInt8]
        /// nil: the file is no longer where the mapping says.
        var stamp: Stamp?
        /// For memory: the process that it belongs to.
        var process: Int?
    }

    private struct Stamp: Hashable {
        var device: UInt
        var size: Int
        var seconds: Int
        var nanoseconds: Int

        init?(_ mapping: CodeMapping) {
            var status = stat()
            guard stat(mapping.path, &status) == 0, UInt64(status.st_ino) == mapping.inode else {
                return nil
            }
            (device, size) = (UInt(status.st_dev), Int(status.st_size))
            (seconds, nanoseconds) = (status.st_ctim.tv_sec, status.st_ctim.tv_nsec)
        }
    }

    package init() {}

    /// nil: unreadable, or of a 32-bit program.
    func file(of module: ModuleIndex) -> ELFFile? { files[module] }

    /// The file whose headers tell where a module's addresses are mapped; nil: unreadable.
    func headers(of module: ModuleIndex) -> ELFFile? { files[module] ?? narrow[module] }

    func tables(of module: ModuleIndex) -> FrameTables? { tables[module] }

    /// The module of a mapping that is new in its process.
    ///
    /// - Parameter process: the process's number. It identifies generated code, because another
    ///   process has other code at the same address. nil: the only process, or the first.
    func index(
        of mapping: CodeMapping, in process: Int?, _ openAlternative: (CodeMapping) -> [String]
    ) -> ModuleIndex {
        let key = Key(
            path: mapping.path, inode: mapping.inode, buildID: mapping.buildID,
            stamp: Stamp(mapping), process: mapping.isMemory ? process : nil)
        if let known = indices[key] { return known }
        let index = ModuleIndex(modules.count)
        let file = open(mapping, openAlternative)
        let buildID = file?.buildID ?? mapping.buildID
        let isGenerated = mapping.isMemory && file == nil && buildID.isEmpty
        modules.append(
            Module(
                path: isGenerated ? Module.generatedPath(mapping.path) : mapping.path,
                buildID: buildID))
        indices[key] = index
        if let file, file.isNarrow {
            narrow[index] = file
        } else {
            files[index] = file
            tables[index] = file.map { FrameTables($0) }
        }
        return index
    }

    /// The module for functions that an interpreter runs: see ``Module/runtimePath``.
    package func index(ofRuntime path: String) -> ModuleIndex {
        let key = Key(path: path, inode: 0, buildID: [], stamp: nil, process: nil)
        if let known = indices[key] { return known }
        let index = ModuleIndex(modules.count)
        modules.append(Module(path: path))
        indices[key] = index
        return index
    }

    private func open(
        _ mapping: CodeMapping, _ alternatives: (CodeMapping) -> [String]
    ) -> ELFFile? {
        if mapping.isKernel { return nil }
        if mapping.path == "[vdso]" {
            let file = try? ELFFile.vdso()
            return mapping.buildID.isEmpty || file?.buildID == mapping.buildID ? file : nil
        }
        return ([mapping.path] + alternatives(mapping)).lazy
            .compactMap { try? ELFFile(path: $0, access: .read) }
            .first { Self.isMapped($0, as: mapping) }
    }

    /// A build id proves more than an inode: it is the same on another machine.
    private static func isMapped(_ file: ELFFile, as mapping: CodeMapping) -> Bool {
        mapping.buildID.isEmpty
            ? mapping.inode == 0 || mapping.inode == file.inode : file.buildID == mapping.buildID
    }
}

extension CodeMapping {
    /// True if it is memory without a name.
    var isNameless: Bool { path.isEmpty || path == "//anon" }
}
