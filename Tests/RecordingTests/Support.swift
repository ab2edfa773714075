import CSQLite
import Glibc
import ProfileModel
import Recording
import Testing

func readBytes(_ path: String) -> [UInt8] {
    let descriptor = open(path, O_RDONLY)
    defer { close(descriptor) }
    let size = max(Int(lseek(descriptor, 0, SEEK_END)), 0)
    return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
        count = max(pread(descriptor, buffer.baseAddress, size, 0), 0)
    }
}

func writeBytes(_ bytes: [UInt8], to path: String) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { close(descriptor) }
    let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    #expect(written == bytes.count)
}

/// Writes a whole recording as a recorder would: header first, symbols last.
func save(_ recording: Recording, to path: String) throws {
    let writer = try beginSaving(recording, to: path)
    try writer.finish(recording.header)
    try RecordingFile.store(recording.symbols, references: recording.references, in: path)
}

extension Recording {
    /// What symbolication finds out of its libraries.
    var references: [Int: Bool] {
        let known = libraries.enumerated().compactMap { row, library in
            library.isReferenced.map { (row, $0) }
        }
        return Dictionary(known, uniquingKeysWith: { $1 })
    }
}

/// All but the end and the symbols; nothing is committed but the beginning.
func beginSaving(_ recording: Recording, to path: String) throws -> RecordingWriter {
    let writer = try RecordingWriter(creating: path, header: recording.header)
    try writer.append(recording)
    return writer
}

func expectEqual(_ left: Recording, _ right: Recording) {
    #expect(left.header == right.header)
    #expect(left.notes == right.notes)
    #expect(left.children == right.children)
    #expect(left.images == right.images)
    #expect(left.borders == right.borders)
    #expect(left.threads == right.threads)
    #expect(left.modules == right.modules)
    #expect(left.mappings == right.mappings)
    #expect(left.stacks.nodes == right.stacks.nodes)
    #expect(left.slices == right.slices)
    #expect(left.libraries == right.libraries)
    #expect(left.initializers == right.initializers)
    #expect(left.intervals == right.intervals)
    #expect(left.signposts == right.signposts)
    #expect(left.ready == right.ready)
    #expect(left.waits == right.waits)
    #expect(left.priorities == right.priorities)
    #expect(left.runs == right.runs)
    #expect(left.wakeups == right.wakeups)
    #expect(left.symbols.frames == right.symbols.frames)
    #expect(left.symbols.modules == right.symbols.modules)
}

/// The same recording with plain tables, for SQL.
func savePlain(_ recording: Recording, to path: String) throws {
    try save(recording, to: path + ".packed")
    writeBytes(try RecordingFile.unpacked(path + ".packed"), to: path)
    unlink(path + ".packed")
}

/// The error that loading `path` throws; nil when it loads.
func loadError(_ path: String) -> RecordingError? {
    do {
        _ = try RecordingReader.load(path: path)
        return nil
    } catch {
        return error
    }
}

/// Whether a file at `path` is refused as damaged, in these words.
func expectDamage(_ error: RecordingError?, at path: String, _ words: String) {
    let text = error?.description ?? "loaded"
    #expect(text.hasPrefix("\(path): is damaged: "), "\(text)")
    #expect(text.contains(words), "\(text)")
}

func save(_ measurement: Measurement, to path: String) throws {
    try MeasurementWriter(creating: path, measurement).finish(measurement.header.ending)
}

/// The error that loading `path` as a measurement throws; nil when it loads.
func measurementError(_ path: String) -> RecordingError? {
    do {
        _ = try MeasurementReader.load(path: path)
        return nil
    } catch {
        return error
    }
}

/// Changes the file behind the module's back.
func execute(_ sql: String, on path: String) {
    var handle: OpaquePointer?
    #expect(sqlite3_open(path, &handle) == SQLITE_OK)
    #expect(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK, "\(sql)")
    sqlite3_close_v2(handle)
}
