import Foundation
import Glibc
import Recording
import TestSupport
import Testing

/// Recordings in folders.
@Suite final class RecordingSearchTests {
    private let scratch: Scratch
    private var folder: String { scratch.folder }

    init() throws { scratch = try Scratch() }

    /// - Parameter second: since 1970, when it was written.
    private func write(_ name: String, _ second: Int = 1_000) throws {
        let path = "\(folder)/\(name)"
        let parent = URL(filePath: path).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
        try Data().write(to: URL(filePath: path))
        var times = [timespec(tv_sec: second, tv_nsec: 7), timespec(tv_sec: second, tv_nsec: 7)]
        try #require(utimensat(AT_FDCWD, path, &times, 0) == 0)
    }

    private func names(_ search: RecordingSearch) -> [String] {
        search.found.map { String($0.path.dropFirst(folder.count + 1)) }
    }

    @Test func aFolderNamesItsRecordings() throws {
        try write("b.firstlight", 3)
        try write("a.firstlight", 5)
        try write("deep/er/c.firstlight", 4)
        for name in ["notes.txt", ".hidden.firstlight", ".git/d.firstlight", "firstlight"] {
            try write(name)
        }
        try #require(mkdir("\(folder)/folder.firstlight", 0o700) == 0)
        try #require(mkfifo("\(folder)/pipe.firstlight", 0o600) == 0)
        let search = RecordingSearch([folder])
        // The oldest first.
        #expect(names(search) == ["b.firstlight", "deep/er/c.firstlight", "a.firstlight"])
        #expect(search.problems.isEmpty)
        #expect(search.found.first?.written == 3_000_000_007)
        #expect(search.found.map(\.isFromFolder) == [true, true, true])
        #expect(names(RecordingSearch([folder + "/"])) == names(search))
    }

    /// A named file counts whatever its name, and once.
    @Test func filesThatAreNamed() throws {
        try write("notes.txt")
        try write("a.firstlight")
        try #require(symlink("a.firstlight", "\(folder)/b.firstlight") == 0)
        let search = RecordingSearch([
            "\(folder)/notes.txt", "\(folder)/a.firstlight", folder, "\(folder)/b.firstlight",
        ])
        #expect(names(search) == ["a.firstlight", "notes.txt"])
        #expect(search.found.map(\.isFromFolder) == [false, false])
    }

    @Test func circlesEnd() throws {
        try write("deep/a.firstlight")
        try #require(symlink("..", "\(folder)/deep/up") == 0)
        #expect(names(RecordingSearch([folder])) == ["deep/a.firstlight"])
    }

    @Test func missingPathsAreErrors() throws {
        let path = "\(folder)/missing"
        let search = RecordingSearch([path])
        #expect(search.found.isEmpty)
        #expect(search.problems == [.cannotOpen(path: path, errno: ENOENT)])
    }
}
