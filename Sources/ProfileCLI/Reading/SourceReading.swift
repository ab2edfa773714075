import Analysis
import CSystem
import Glibc
import Report
import System

/// Lines of the source files that a profile's frames name, if they are readable here.
///
/// The author of the recording decided which files these are, and the user may pass the page on. So
/// we read only files that look like source, below a folder that the user chooses, and report which
/// files we read. Files that changed after the recording are left out: their lines differ now.
struct SourceReading {
    private let profile: Profile
    private let recordedAt: Int
    /// Without links, and with a final slash; nil: there is no such folder.
    private let root: String?

    /// The lines around each occurring line, and limits for all files: debug information may name
    /// any path.
    private static let context: Int32 = 4
    private static let (mostFiles, mostBytes, largestFile) = (400, 512 << 10, 4 << 20)
    private static let longestLine = 400

    /// The endings of source files, in all languages whose compilers write DWARF.
    private static let endings: Set<Substring> = [
        "c", "h", "cc", "hh", "cpp", "hpp", "cxx", "hxx", "c++", "h++", "ii", "inc", "inl", "ipp",
        "tcc", "def", "m", "mm", "s", "S", "asm", "swift", "rs", "go", "d", "zig", "nim", "f",
        "f77",
        "f90", "f95", "f03", "f08", "F", "F90", "ada", "adb", "ads", "pas", "pp", "ml", "hs", "cu",
        "java", "kt", "scala", "cr", "v", "vala", "y", "l", "py", "pyx", "js", "mjs", "ts", "rb",
    ]

    /// - Parameters:
    ///   - recording: the profile's file.
    ///   - root: the folder below which files may be read.
    init(_ profile: Profile, recording: String, root: String) {
        self.profile = profile
        self.root = Self.resolved(root).map { $0.hasSuffix("/") ? $0 : $0 + "/" }
        var status = stat()
        recordedAt = stat(recording, &status) == 0 ? status.st_mtim.tv_sec : 0
    }

    /// The same, and reports what the page contains.
    func lines(tell console: Console) -> SourceLines {
        let result = lines()
        let count = result.files.count
        let files = count == 1 ? "1 file" : "\(count) files"
        console.complain(
            "the page has lines of source from \(files), all below \(root ?? "no folder") "
                + "(--source-root)")
        return result
    }

    func lines() -> SourceLines {
        var result = SourceLines()
        var room = Self.mostBytes
        for (file, lines) in wanted().prefix(Self.mostFiles) {
            guard room > 0, let text = read(file) else { continue }
            var found: [Int32: String] = [:]
            var number: Int32 = 0
            for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            {
                number += 1
                guard lines.contains(number), room > 0 else { continue }
                let line = line.prefix(Self.longestLine)
                room -= line.count
                found[number] = String(decoding: line, as: UTF8.self)
            }
            if !found.isEmpty { result.files[file] = found }
        }
        return result
    }

    /// The files in stacks, the developer's own first, with the lines to show.
    private func wanted() -> [(String, Set<Int32>)] {
        var files: [String: (isOwn: Bool, lines: Set<Int32>)] = [:]
        for frame in profile.frames.frames {
            guard let file = frame.file, file.hasPrefix("/"), let line = frame.line, line > 0,
                line < Int32.max - Self.context
            else { continue }
            let isOwn = profile.frames[frame.function].isOwn
            let around = max(1, line - Self.context)...line + Self.context
            files[file, default: (false, [])].lines.formUnion(around)
            if isOwn { files[file]?.isOwn = true }
        }
        return files.sorted { ($1.value.isOwn ? 1 : 0, $0.key) < ($0.value.isOwn ? 1 : 0, $1.key) }
            .map { ($0.key, $0.value.lines) }
    }

    /// The path with links resolved.
    private static func resolved(_ path: String) -> String? {
        let resolved = realpath(path, nil)
        defer { free(resolved) }
        return resolved.map { String(cString: $0) }
    }

    /// Checks the file itself, not its name: a link may lead anywhere.
    private func permitted(_ path: String) -> String? {
        guard let root, let path = Self.resolved(path), path.hasPrefix(root) else { return nil }
        let names = path.dropFirst(root.count).split(separator: "/")
        guard let name = names.last, let dot = name.lastIndex(of: "."),
            Self.endings.contains(name[name.index(after: dot)...]),
            // `.git`, `.config`: such folders have no source.
            !names.contains(where: { $0.hasPrefix(".") })
        else { return nil }
        return path
    }

    private func read(_ path: String) -> [UInt8]? {
        guard let path = permitted(path), let file = try? Descriptor(regular: path, O_NOFOLLOW),
            let status = try? file.status(), status.st_size <= Self.largestFile,
            status.st_mtim.tv_sec <= recordedAt
        else { return nil }
        let size = Int(status.st_size)
        return try? file.bytes(count: size, expected: size)
    }
}
