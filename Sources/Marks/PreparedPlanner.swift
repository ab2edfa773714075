internal import Architecture
package import ProfileModel
internal import Symbolicate
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
