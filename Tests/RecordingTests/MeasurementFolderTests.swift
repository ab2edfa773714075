import Glibc
import ProfileModel
import Recording
import TestSupport
import Testing

@Suite struct MeasurementFolderTests {
    private func saved(_ name: String, in scratch: Scratch, seed: UInt64 = 1) throws -> String {
        var random = RandomMeasurement(seed: seed)
        try save(random.make(), to: scratch.path(name))
        return scratch.path(name)
    }

    /// The folder's own files, removed again.
    private func withFolder(_ body: (Scratch, String) throws -> Void) throws {
        let scratch = try Scratch()
        let folder = scratch.path("kept")
        try body(scratch, folder)
    }

    @Test func copiesAreWholeAndStand() throws {
        try withFolder { scratch, folder in
            let path = try saved("a", in: scratch)
            guard case .new(let copy) = try MeasurementFolder.add(path, to: folder) else {
                Issue.record("not added")
                return
            }
            #expect(readBytes(copy) == readBytes(path))
            #expect(try MeasurementFolder.files(in: folder) == [copy])
            #expect(try MeasurementFolder.add(path, to: folder) == .known(copy))
            #expect(try MeasurementFolder.add(copy, to: folder) == .known(copy))
            #expect(try MeasurementFolder.files(in: folder) == [copy])
            var status = stat()
            #expect(stat(copy, &status) == 0 && status.st_mode & 0o7777 == 0o600)
        }
    }

    /// The order of names is that of dates.
    @Test func namesAreInOrder() throws {
        try withFolder { scratch, folder in
            var random = RandomMeasurement(seed: 3)
            var made = random.make()
            for (number, seconds) in [1_700_000_000, 5, 1_600_000_000, 1_700_000_001].enumerated() {
                made.header.date = Int64(seconds) * 1_000_000_000
                made.header.versionName = "9"
                let path = scratch.path("\(number)")
                try save(made, to: path)
                _ = try MeasurementFolder.add(path, to: folder)
            }
            let dates = try MeasurementFolder.files(in: folder).map {
                try MeasurementReader.load(path: $0).header.date / 1_000_000_000
            }
            #expect(dates == [5, 1_600_000_000, 1_700_000_000, 1_700_000_001])
        }
    }

    @Test(arguments: ["../../etc/passwd", "a b;rm -rf", "\u{1b}[31m", "é", "", "-", "a\0b", "."])
    func versionsAreNoPaths(version: String) throws {
        try withFolder { scratch, folder in
            var random = RandomMeasurement(seed: 4)
            var made = random.make()
            made.header.versionName = version
            try save(made, to: scratch.path("a"))
            _ = try MeasurementFolder.add(scratch.path("a"), to: folder)
            let files = try MeasurementFolder.files(in: folder)
            #expect(files.count == 1)
            for file in files {
                #expect(
                    file.dropFirst(folder.utf8.count + 1).utf8.allSatisfy {
                        0x61...0x7a ~= $0 || 0x41...0x5a ~= $0
                            || 0x2b...0x39 ~= $0 && $0 != 0x2f
                                && $0 != 0x2c
                            || $0 == 0x5f
                    }, "\(file)")
            }
        }
    }

    @Test func otherFilesAreRefused() throws {
        try withFolder { scratch, folder in
            writeBytes(Array("text".utf8), to: scratch.path("text"))
            var slices = RandomRecording(seed: 1)
            try save(slices.make(), to: scratch.path("recording"))
            let damaged = try saved("damaged", in: scratch)
            #expect(truncate(damaged, 9_000) == 0)
            for name in ["text", "recording", "damaged", "none"] {
                #expect(throws: RecordingError.self, "\(name)") {
                    try MeasurementFolder.add(scratch.path(name), to: folder)
                }
            }
            // Not even the folder was made.
            #expect(!MeasurementFolder.isFolder(folder))
        }
    }

    @Test func otherFilesInTheFolderStay() throws {
        try withFolder { scratch, folder in
            let path = try saved("a", in: scratch)
            guard case .new(let copy) = try MeasurementFolder.add(path, to: folder) else { return }
            writeBytes(Array("mine".utf8), to: copy)
            #expect(throws: RecordingError.self) { try MeasurementFolder.add(path, to: folder) }
            #expect(readBytes(copy).count >= 4)
            #expect(readBytes(copy).starts(with: "mine".utf8))
        }
    }

    @Test func otherFilesAreNotLookedAt() throws {
        let scratch = try Scratch()
        for name in ["b.firstlight", "a.firstlight", ".c.firstlight", "d.txt", "e.firstlight.old"] {
            writeBytes([1], to: scratch.path(name))
        }
        #expect(
            try MeasurementFolder.files(in: scratch.folder)
                == [scratch.path("a.firstlight"), scratch.path("b.firstlight")])
        #expect(throws: RecordingError.self) {
            try MeasurementFolder.files(in: scratch.path("none"))
        }
    }
}
