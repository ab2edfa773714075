import Glibc
import ProfileModel
import Recording
import TestSupport
import Testing

@Suite struct RecordingFileTests {
    private let header = Recording.Header(
        pid: 1, isAttached: false, capture: .ptrace, frequency: 1_000)

    private func make(_ path: String) throws {
        try RecordingWriter(creating: path, header: header).finish(header)
    }

    @Test func theOlderOneIsKept() throws {
        let scratch = try Scratch()
        let path = scratch.path("a")
        try RecordingFile.keepOlder(at: path)
        #expect(scratch.names == [])
        try make(path)
        writeBytes([1], to: path + "-journal")
        let first = readBytes(path)
        try RecordingFile.checkWritable(path)
        try RecordingFile.keepOlder(at: path)
        #expect(scratch.names == ["a.old", "a.old-journal"])
        #expect(readBytes(path + ".old") == first)
        // The next one takes its place, and the journal that is no longer its own goes.
        try make(path)
        try RecordingFile.keepOlder(at: path)
        #expect(scratch.names == ["a.old"])
    }

    @Test func anEmptyFileMayBeReplaced() throws {
        let scratch = try Scratch()
        let path = scratch.path("a")
        writeBytes([], to: path)
        try RecordingFile.checkWritable(path)
        try RecordingFile.keepOlder(at: path)
        #expect(scratch.names == ["a.old"])
    }

    private func expectRefusal(_ error: RecordingError, at path: String) {
        #expect(throws: error) { try RecordingFile.checkWritable(path) }
        #expect(throws: error) { try RecordingFile.keepOlder(at: path) }
    }

    @Test func nothingElseIsReplaced() throws {
        let scratch = try Scratch()
        let path = scratch.path("main.c")
        writeBytes(Array("int main() { return 0; }".utf8), to: path)
        expectRefusal(.wouldReplace(path: path), at: path)
        #expect(scratch.names == ["main.c"])
        // Nor does a recording replace a file at its .old.
        let recording = scratch.path("a")
        try make(recording)
        writeBytes(Array("notes".utf8), to: recording + ".old")
        expectRefusal(.wouldReplace(path: recording + ".old"), at: recording)
        #expect(scratch.names == ["a", "a.old", "main.c"])
    }

    /// Only with a reader's lock may it be removed.
    @Test func oneThatIsBeingWrittenStays() throws {
        let scratch = try Scratch()
        let path = scratch.path("a")
        try make(path)
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        // An open file's lock counts as another process's for any caller, and has the same effect
        // as SQLite's.
        let setOpenFileLock: Int32 = 37
        var lock = flock()
        lock.l_start = 0x4000_0002
        lock.l_len = 510
        lock.l_type = Int16(F_WRLCK)
        #expect(fcntl(descriptor, setOpenFileLock, &lock) == 0)
        expectRefusal(.inUse(path: path), at: path)
        lock.l_type = Int16(F_RDLCK)
        #expect(fcntl(descriptor, setOpenFileLock, &lock) == 0)
        try RecordingFile.checkWritable(path)
    }

    @Test func onlyFiles() throws {
        let scratch = try Scratch()
        for path in [scratch.folder, "/dev/null"] {
            #expect(throws: RecordingError.self) { try RecordingFile.checkWritable(path) }
            #expect(throws: RecordingError.self) { try RecordingFile.keepOlder(at: path) }
        }
        let link = scratch.path("link")
        #expect(symlink("nowhere", link) == 0)
        #expect(throws: RecordingError.self) { try RecordingFile.checkWritable(link) }
    }

    @Test func places() throws {
        let scratch = try Scratch()
        let file = scratch.path("file")
        try make(file)
        #expect(throws: RecordingError.cannotCreate(path: "/none/a", errno: ENOENT)) {
            try RecordingFile.checkWritable("/none/a")
        }
        #expect(throws: RecordingError.cannotCreate(path: file + "/a", errno: ENOTDIR)) {
            try RecordingFile.checkWritable(file + "/a")
        }
        #expect(throws: RecordingError.cannotCreate(path: "", errno: ENOENT)) {
            try RecordingFile.checkWritable("")
        }
        let long = scratch.path(String(repeating: "x", count: 300))
        #expect(throws: RecordingError.cannotCreate(path: long, errno: ENAMETOOLONG)) {
            try RecordingFile.checkWritable(long)
        }
        // No user, root included, can create files there.
        let nowhere = "/proc/firstlight"
        #expect(throws: RecordingError.cannotCreate(path: nowhere, errno: ENOENT)) {
            try make(nowhere)
        }
        #expect(throws: RecordingError.cannotCreate(path: nowhere, errno: ENOENT)) {
            try RecordingFile.checkWritable(nowhere)
        }
        #expect(
            RecordingError.cannotCreate(path: "/none/a", errno: ENOENT).description
                == "/none/a: cannot create the file: No such file or directory; "
                + "choose another file with -o")
    }

    /// A writer recognises its own file, however soon it is moved away.
    @Test func aFileIsKnownWhereverItIs() throws {
        let scratch = try Scratch()
        let header = Recording.Header(pid: 1, isAttached: false, capture: .ptrace, frequency: 1)
        let writer = try RecordingWriter(creating: scratch.path("a"), header: header)
        #expect(rename(scratch.path("a"), scratch.path("moved")) == 0)
        try make(scratch.path("a"))
        try RecordingFile.check(scratch.path("moved"), is: writer.identity)
        #expect(throws: RecordingError.replaced(path: scratch.path("a"))) {
            try RecordingFile.check(scratch.path("a"), is: writer.identity)
        }
        try writer.finish(header)
    }

    /// A link in the place of a file that was just made leads nowhere.
    @Test func linksAreNotWrittenThrough() throws {
        let scratch = try Scratch()
        try make(scratch.path("a"))
        #expect(symlink("a", scratch.path("link")) == 0)
        let before = readBytes(scratch.path("a"))
        #expect(throws: RecordingError.self) {
            try RecordingFile.store(SymbolTable(), in: scratch.path("link"))
        }
        #expect(readBytes(scratch.path("a")) == before)
        // The folder's path may contain a link.
        #expect(symlink(".", scratch.path("folder")) == 0)
        try make(scratch.path("folder/b"))
        #expect(scratch.names == ["a", "b", "folder", "link"])
    }

    /// Names, relative ones, that SQLite would take for something else than a file.
    @Test(arguments: [":memory:", "file:firstlight-test?mode=memory"])
    func oddNames(name: String) throws {
        defer { unlink(name) }
        try make(name)
        #expect(access(name, F_OK) == 0)
        #expect(try RecordingReader.load(path: name).header == header)
    }
}
