import ProfileModel
import Recording
import TestSupport
import Testing

/// What a recorder leaves that is killed: its files as they are at that moment. The copies here
/// are just that, for the kernel holds a dead process's writes as it does a live one's.
@Suite struct KilledRecorderTests {
    private func copy(_ scratch: Scratch, from name: String, to copy: String) {
        writeBytes(readBytes(scratch.path(name)), to: scratch.path(copy))
        if scratch.names.contains(name + "-journal") {
            writeBytes(
                readBytes(scratch.path(name + "-journal")), to: scratch.path(copy + "-journal"))
        }
    }

    @Test func atTheBeginning() throws {
        let scratch = try Scratch()
        let header = Recording.Header(pid: 8, isAttached: false, capture: .ptrace, frequency: 50)
        let writer = try RecordingWriter(creating: scratch.path("a"), header: header)
        copy(scratch, from: "a", to: "b")
        let loaded = try RecordingReader.load(path: scratch.path("b"))
        #expect(loaded.header == header)
        #expect(loaded.header.outcome == .unknown)
        #expect(loaded.slices.isEmpty)
        try writer.commit()
    }

    @Test func betweenCommits() throws {
        let scratch = try Scratch()
        var random = RandomRecording(seed: 4)
        let recording = random.make(slices: 0)
        let writer = try beginSaving(recording, to: scratch.path("a"))
        try writer.commit()
        for round in 1...5 {
            for step in 0..<100 {
                let start = Int64(round * 1_000 + step)
                let times = StateTimes(running: TimeSpan(nanoseconds: 1))
                try writer.append(
                    Slice(
                        thread: ThreadIndex(0), start: MonotonicTime(nanoseconds: start),
                        times: times, stack: nil))
            }
            let name = "copy\(round)"
            copy(scratch, from: "a", to: name)
            let loaded = try RecordingReader.load(path: scratch.path(name))
            #expect(loaded.slices.count == (round - 1) * 100)
            #expect(loaded.modules == recording.modules)
            try writer.commit()
        }
    }

    /// A transaction too large for SQLite's cache: the file has half of it already, and only the
    /// journal can take it back.
    @Test func inTheMiddleOfAWrite() throws {
        let scratch = try Scratch()
        var random = RandomRecording(seed: 5)
        let small = random.make(slices: 0)
        let writer = try beginSaving(small, to: scratch.path("a"))
        try writer.commit()
        let before = readBytes(scratch.path("a"))
        for number in 0..<Int64(400_000) {
            let times = StateTimes(blocked: TimeSpan(nanoseconds: 1))
            let start = MonotonicTime(nanoseconds: 7 * number)
            try writer.append(
                Slice(thread: ThreadIndex(0), start: start, times: times, stack: nil))
        }
        copy(scratch, from: "a", to: "b")
        #expect(readBytes(scratch.path("b")).count > before.count)
        #expect(scratch.names.contains("b-journal"))
        let loaded = try RecordingReader.load(path: scratch.path("b"))
        #expect(loaded.slices.isEmpty)
        #expect(loaded.threads == small.threads)
        #expect(!scratch.names.contains("b-journal"))
        #expect(readBytes(scratch.path("b")).count == before.count)
        try writer.finish(small.header)
        #expect(try RecordingReader.load(path: scratch.path("a")).slices.count == 400_000)
        #expect(scratch.names == ["a", "b"])
    }

    @Test func symbolsCanBeStored() throws {
        let scratch = try Scratch()
        var random = RandomRecording(seed: 6)
        let recording = random.make()
        let writer = try beginSaving(recording, to: scratch.path("a"))
        try writer.commit()
        copy(scratch, from: "a", to: "b")
        try RecordingFile.store(
            recording.symbols, references: recording.references, in: scratch.path("b"))
        expectEqual(try RecordingReader.load(path: scratch.path("b")), recording)
    }
}
