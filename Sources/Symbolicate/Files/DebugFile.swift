internal import CElfutils
internal import CLZMA
internal import ELF
internal import Glibc
import ProfileModel

/// A file with debug information that belongs to its module.
struct DebugFile {
    var path: String
    var file: ELFFile
    var origin: DebugInfoOrigin
}

extension DebugFileSearch {
    /// The first candidate that belongs to the module and has any useful content.
    /// - Parameters:
    ///   - path: the module's path.
    ///   - buildID: the recorded build id, or the file's if none was recorded; may be empty.
    ///   - link: the module's link, if its file could be opened.
    func find(for path: String, buildID: [UInt8], link: DebugLink?) -> DebugFile? {
        var refused: [ModuleRemark] = []
        return find(for: path, buildID: buildID, link: link, fetched: nil, refused: &refused)
    }

    /// - Parameters:
    ///   - fetched: a file from a server; tried last.
    ///   - refused: receives candidates that exist, but do not belong or cannot be read.
    func find(
        for path: String, buildID: [UInt8], link: DebugLink?, fetched: String?,
        refused: inout [ModuleRemark]
    ) -> DebugFile? {
        if let found = find(buildID, refused: &refused) { return found }
        if let link, let found = find(link, of: path, buildID, refused: &refused) { return found }
        guard let fetched, let file = Self.open(fetched, refused: &refused),
            file.buildID == buildID
        else { return nil }
        return DebugFile(path: fetched, file: file, origin: .debuginfod)
    }

    private func find(_ buildID: [UInt8], refused: inout [ModuleRemark]) -> DebugFile? {
        for candidate in candidates(forBuildID: buildID) {
            guard let file = Self.open(candidate, refused: &refused) else { continue }
            if file.buildID == buildID {
                return DebugFile(path: candidate, file: file, origin: .buildID)
            }
            refused.append(ModuleRemark(.otherDebugFile, candidate))
        }
        return nil
    }

    private func find(
        _ link: DebugLink, of path: String, _ buildID: [UInt8], refused: inout [ModuleRemark]
    ) -> DebugFile? {
        for candidate in candidates(forLink: link.name, of: path) {
            guard let file = Self.open(candidate, refused: &refused) else { continue }
            if Self.agree(file.buildID, buildID),
                file.checksum == link.checksum
            {
                return DebugFile(path: candidate, file: file, origin: .debugLink)
            }
            refused.append(ModuleRemark(.otherDebugFile, candidate))
        }
        return nil
    }

    /// The common file that the debug file at `path` refers to; it must have that build id.
    func findAlternate(_ name: String, buildID: [UInt8], of path: String) -> ELFFile? {
        for candidate in candidates(forAlternate: name, buildID: buildID, of: path) {
            if let file = try? ELFFile(path: candidate), file.buildID == buildID { return file }
        }
        return nil
    }

    /// Most candidates do not exist; this is not reported, nor is an empty file.
    private static func open(_ path: String, refused: inout [ModuleRemark]) -> ELFFile? {
        do throws(ELFFileError) {
            let file = try ELFFile(path: path)
            return file.hasDebugInfo || file.hasSymbolTable ? file : nil
        } catch .cannotOpen(ENOENT), .cannotOpen(ENOTDIR) {
            return nil
        } catch {
            refused.append(ModuleRemark(.unreadableDebugFile, "\(path): \(error)"))
            return nil
        }
    }

    private static func agree(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.isEmpty || right.isEmpty || left == right
    }
}

/// Where a stripped file says that its debug information is.
struct DebugLink {
    /// The name of a file, without a folder.
    var name: String
    /// The CRC-32 of that file.
    var checksum: UInt32
}

extension ELFFile {
    /// `.gnu_debuglink`; nil if there is none, or if it has a folder in its name (it could lead
    /// anywhere).
    var debugLink: DebugLink? {
        var checksum: GElf_Word = 0
        guard let name = dwelf_elf_gnu_debuglink(handle, &checksum) else { return nil }
        let text = String(cString: name)
        guard !text.isEmpty, text != "..", text != ".", !text.contains("/") else { return nil }
        return DebugLink(name: text, checksum: checksum)
    }

    /// The CRC-32 of the whole file, for comparison with a `.gnu_debuglink`.
    var checksum: UInt32 {
        let contents = contents
        let start = contents.baseAddress?.assumingMemoryBound(to: UInt8.self)
        return lzma_crc32(start, contents.count, 0)
    }

    /// `.gnu_debugaltlink`: the name and build id of the common file into which `dwz` moved parts
    /// of several files; nil if there is none.
    var alternateLink: (name: String, buildID: [UInt8])? {
        guard let index = index(ofSection: ".gnu_debugaltlink") else { return nil }
        let bytes = bytes(ofSection: index)
        guard let name = bytes.text(at: 0), !name.isEmpty else { return nil }
        let buildID = Array(bytes[min(name.count + 1, bytes.count)...])
        return buildID.isEmpty ? nil : (String(decoding: name, as: UTF8.self), buildID)
    }

    /// True if the file itself contains data for a section with this name.
    func hasContents(ofSection name: String) -> Bool {
        sections.contains { $0.name == name && !$0.isEmptyOnDisk }
    }

    var hasDebugInfo: Bool {
        hasContents(ofSection: ".debug_info") || hasContents(ofSection: ".zdebug_info")
    }

    var hasSymbolTable: Bool {
        sections.contains { $0.type == UInt32(SHT_SYMTAB) && !$0.isEmptyOnDisk }
    }
}
