internal import Architecture
internal import Glibc
package import ProfileModel
package import Symbolicate
internal import Synchronization

/// Plans for the programs and libraries of a recording. Files that are known in advance are read
/// before any program has to wait for them; others are read when a plan needs them.
package final class PreparedPlanner: Sendable {
    /// The marks that the user asks for.
    package let requests: [MarkRequest]
    private let files = Mutex<[FileIdentity: Slot]>([:])
    private let search = LibrarySearch()
    /// More files than this are an attack.
    private static let mostFiles = 512

    /// A file that one thread reads while others may wait for the result.
    private final class Slot: Sendable {
        let file = Mutex<PreparedFile?>(nil)
    }

    package init(_ requests: [MarkRequest]) { self.requests = requests }

    /// Reads a program and the libraries that it needs, on all cores. Files that cannot be read are
    /// left to ``plan(for:read:)``.
    ///
    /// - Parameters:
    ///   - file: where the program's file is now.
    ///   - path: where it is found.
    package func prepare(_ file: String, path: String) {
        // On the first use, Capstone sorts a table of its own, without a lock.
        _ = Disassembler()?.instructions(in: CodeBytes.return, at: 0)
        var next = [(file: file, path: path)]
        var known: Set<String> = []
        while !next.isEmpty, known.count < Self.mostFiles {
            let (level, search) = (next, search)
            let found = Workers.map(level.count, makeState: {}) { _, index in
                let needs = self.withFile(level[index].file, path: level[index].path) { file in
                    file.rehearse()
                    return file.needs
                }
                return needs.map { search.files(for: $0, of: level[index].path) } ?? []
            }
            next = found.joined().filter { known.insert($0).inserted }.map { ($0, $0) }
        }
    }

    /// The changes in an image. nil: its file cannot be read.
    ///
    /// - Parameter read: reads at most that many bytes of the process's memory.
    package func plan(
        for image: MarkedImage,
        read: @Sendable (_ address: UInt64, _ count: Int) -> [UInt8]
    ) -> MarkPlan? {
        withFile(image.file, path: image.path) { $0.plan(for: image, read: read) } ?? nil
    }

    private func withFile<Result: Sendable>(
        _ file: String, path: String, _ body: @Sendable (PreparedFile) -> Result
    ) -> Result? {
        guard let identity = FileIdentity(file) else { return nil }
        let slot = files.withLock { files in
            let slot = files[identity] ?? Slot()
            files[identity] = slot
            return slot
        }
        return slot.file.withLock { prepared in
            if prepared == nil { prepared = try? PreparedFile(file, path: path, requests) }
            return prepared.map(body)
        }
    }
}

/// Distinguishes a file from all others, and from its own earlier content.
struct FileIdentity: Hashable {
    private let device: UInt
    private let inode: UInt
    private let size: Int
    private let seconds: Int
    private let nanoseconds: Int

    /// nil: there is no such file.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = status.st_dev
        inode = status.st_ino
        size = status.st_size
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
    }
}

/// Where the dynamic linker probably finds a program's libraries. We do not ask the linker, so the
/// result may differ from its own.
package struct LibrarySearch: Sendable {
    /// The folders of `LD_LIBRARY_PATH`.
    private let preferred: [String]
    private let exists: @Sendable (String) -> Bool
    /// Debian's and Fedora's folders.
    private static let usual = [
        "/lib/\(Machine.libraryFolder)", "/usr/lib/\(Machine.libraryFolder)", "/lib64",
        "/usr/lib64", "/lib",
        "/usr/lib", "/usr/local/lib",
    ]

    /// - Parameter preferred: the value of `LD_LIBRARY_PATH`.
    package init(preferred: String, exists: @escaping @Sendable (String) -> Bool) {
        self.preferred = preferred.split { $0 == ":" || $0 == ";" }.map(String.init)
        self.exists = exists
    }

    /// For programs with our environment.
    package init() {
        self.init(
            preferred: getenv("LD_LIBRARY_PATH").map { String(cString: $0) } ?? "",
            exists: { access($0, R_OK) == 0 })
    }

    /// The files that the one at `path` needs; missing files are left out.
    package func files(for needs: LibraryNeeds, of path: String) -> [String] {
        let origin = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        let named = needs.folders.map { Self.replacingOrigin(in: $0, by: origin) }
        let folders = named + preferred + Self.usual
        let libraries = needs.names.compactMap { name in
            name.contains("/")
                ? name : folders.lazy.map { "\($0)/\(name)" }.first(where: exists)
        }
        return libraries + (needs.interpreter.map { [$0] } ?? [])
    }

    private static func replacingOrigin(in folder: String, by origin: String) -> String {
        for word in ["$ORIGIN", "${ORIGIN}"] where folder.hasPrefix(word) {
            return origin + folder.dropFirst(word.count)
        }
        return folder
    }
}
