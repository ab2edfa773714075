import Glibc
import ProfileModel
import Recording
import TestSupport
import Testing

@Suite struct RoundTripTests {
    @Test(arguments: 1...20) func everythingComesBack(seed: UInt64) throws {
        let scratch = try Scratch()
        var random = RandomRecording(seed: seed)
        let recording = random.make()
        try save(recording, to: scratch.path("a"))
        expectEqual(try RecordingReader.load(path: scratch.path("a")), recording)
        #expect(scratch.names == ["a"])
    }

    /// Reading for looking up names leaves out the parts without addresses, and nothing else.
    @Test(arguments: 1...20) func addressesAreAll(seed: UInt64) throws {
        let scratch = try Scratch()
        var random = RandomRecording(seed: seed)
        let recording = random.make()
        let path = scratch.path("recording")
        try save(recording, to: path)
        let read = try RecordingReader.loadAddresses(path: path)
        #expect(read.slices.isEmpty && read.runs.isEmpty && read.wakeups.isEmpty)
        func places(_ recording: Recording) -> Set<String> {
            Set(
                recording.waits.compactMap { wait in
                    wait.reason.place.map { "\(wait.thread) \($0)" }
                })
        }
        #expect(places(read) == places(recording))
        #expect(read.waits.count == places(recording).count)
        var whole = try RecordingReader.load(path: path)
        (whole.slices, whole.wakeups, whole.waits) = ([], [], read.waits)
        whole.runs = ScheduledRuns()
        expectEqual(read, whole)
    }

    @Test func sameRecordingSameBytes() throws {
        let scratch = try Scratch()
        for name in ["a", "b"] {
            var random = RandomRecording(seed: 7)
            try save(random.make(), to: scratch.path(name))
        }
        #expect(readBytes(scratch.path("a")) == readBytes(scratch.path("b")))
    }

    @Test func onlyTheOwnerMayRead() throws {
        let scratch = try Scratch()
        let path = scratch.path("a")
        var random = RandomRecording(seed: 1)
        let writer = try beginSaving(random.make(slices: 60_000), to: path)
        var status = stat()
        for name in ["a", "a-journal"] {
            #expect(stat(scratch.path(name), &status) == 0)
            #expect(status.st_mode & 0o7777 == 0o600)
        }
        try writer.commit()
    }

    @Test func symbolsAreReplaced() throws {
        let scratch = try Scratch()
        let path = scratch.path("a")
        var random = RandomRecording(seed: 2)
        var recording = random.make()
        try save(recording, to: path)
        recording.symbols.frames = recording.symbols.frames.filter { $0.key.module != nil }
        recording.symbols.modules = [:]
        try RecordingFile.store(recording.symbols, references: recording.references, in: path)
        expectEqual(try RecordingReader.load(path: path), recording)
        #expect(scratch.names == ["a"])
    }

    @Test func symbolsOfAnUnknownModuleAreRefused() throws {
        let scratch = try Scratch()
        let path = scratch.path("a")
        var random = RandomRecording(seed: 3)
        let recording = random.make()
        try save(recording, to: path)
        var symbols = SymbolTable()
        symbols.modules[ModuleIndex(recording.modules.count)] = ModuleSymbols()
        #expect(throws: RecordingError.self) { try RecordingFile.store(symbols, in: path) }
        expectEqual(try RecordingReader.load(path: path), recording)
    }

    @Test func threadsChange() throws {
        let scratch = try Scratch()
        let path = scratch.path("a")
        let header = Recording.Header(pid: 5, isAttached: true, capture: .ptrace, frequency: 99)
        let writer = try RecordingWriter(creating: path, header: header)
        var thread = RecordedThread(
            tid: 5, name: "sh", start: MonotonicTime(nanoseconds: 10), isMain: true)
        let index = try writer.append(thread)
        try writer.commit()
        thread.name = "python3"
        thread.end = MonotonicTime(nanoseconds: 20)
        try writer.update(thread, at: index)
        var ended = header
        ended.outcome = .signalled(9)
        ended.ticks = 3
        try writer.finish(ended)
        let loaded = try RecordingReader.load(path: path)
        #expect(loaded.threads == [thread])
        #expect(loaded.header == ended)
    }
}

@Suite struct WriterTests {
    private let header = Recording.Header(
        pid: 5, isAttached: false, capture: .ptrace, frequency: 1_000)
    private let thread = RecordedThread(
        tid: 5, name: "a", start: MonotonicTime(nanoseconds: 10), isMain: true)

    private func slice(start: Int64, wall: Int64, stack: Int32? = nil) -> Slice {
        Slice(
            thread: ThreadIndex(0), start: MonotonicTime(nanoseconds: start),
            times: StateTimes(running: TimeSpan(nanoseconds: wall)),
            stack: stack.map(StackID.init))
    }

    @Test func refusesWhatNoReaderAccepts() throws {
        let wrong = [
            slice(start: -1, wall: 1), slice(start: 0, wall: -1), slice(start: .max, wall: 1),
            slice(start: 0, wall: 1, stack: 0), slice(start: 99, wall: 1),
        ]
        for (number, slice) in wrong.enumerated() {
            let scratch = try Scratch()
            let path = scratch.path("a")
            let writer = try RecordingWriter(creating: path, header: header)
            try writer.append(thread)
            try writer.append(self.slice(start: 100, wall: 50))
            try writer.commit()
            let error = try #require(throws: RecordingError.self, "\(number)") {
                try writer.append(slice)
            }
            #expect(error.description.contains("slices, row 1: "))
            // The file ends here, with the same error, and keeps the committed rows.
            #expect(throws: error) { try writer.commit() }
            #expect(throws: error) { try writer.finish(header) }
            #expect(try RecordingReader.load(path: path).slices.count == 1)
            #expect(scratch.names == ["a"])
        }
    }

    /// Its rows would refer to the wrong ones.
    @Test func aWholeRecordingNeedsAnEmptyWriter() throws {
        var random = RandomRecording(seed: 3)
        let whole = random.make(slices: 10)
        let steps: [(String, (RecordingWriter) throws -> Void)] = [
            ("threads", { try $0.append(thread) }),
            ("modules", { try $0.append(Module(path: "/bin/a")) }),
            (
                "threads",
                {
                    try $0.append(thread)
                    try $0.commit()
                }
            ),
        ]
        for (table, step) in steps {
            let scratch = try Scratch()
            let path = scratch.path("a")
            let writer = try RecordingWriter(creating: path, header: header)
            try step(writer)
            let detail = "\(table), row 0: precedes a whole recording"
            #expect(throws: RecordingError.refused(path: path, detail: detail)) {
                try writer.append(whole)
            }
        }
    }

    @Test func nothingAfterTheEnd() throws {
        let scratch = try Scratch()
        let writer = try RecordingWriter(creating: scratch.path("a"), header: header)
        try writer.finish(header)
        #expect(throws: RecordingError.self) { try writer.append(thread) }
    }

    @Test func lockedWhileItIsWritten() throws {
        let scratch = try Scratch()
        let path = scratch.path("a")
        let writer = try RecordingWriter(creating: path, header: header)
        #expect(loadError(path) == .inUse(path: path))
        try writer.finish(header)
        #expect(loadError(path) == nil)
    }

    @Test func neverReplacesAFile() throws {
        let scratch = try Scratch()
        let path = scratch.path("a")
        writeBytes([1, 2, 3], to: path)
        #expect(throws: RecordingError.cannotCreate(path: path, errno: EEXIST)) {
            _ = try RecordingWriter(creating: path, header: header)
        }
        #expect(readBytes(path) == [1, 2, 3])
    }

    @Test func aStaleJournalIsNotPlayedBack() throws {
        let scratch = try Scratch()
        let path = scratch.path("a")
        writeBytes([UInt8](repeating: 0xD9, count: 5_000), to: path + "-journal")
        let writer = try RecordingWriter(creating: path, header: header)
        try writer.append(thread)
        try writer.finish(header)
        #expect(try RecordingReader.load(path: path).threads == [thread])
    }
}
