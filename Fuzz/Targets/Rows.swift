import CSQLite
import FuzzSupport
import Glibc

@testable import Recording

// A recording, or a measurement, whose tables hold other values: what a mutated file rarely comes to,
// since SQLite refuses it first. Recordings come with packed rows and with plain ones. The environment
// names the files to begin with.

private let file = TemporaryFile("rows")
private let names: [String] = ["FIRSTLIGHT_FUZZ_RECORDING", "FIRSTLIGHT_FUZZ_MEASUREMENT"]
private let seeds = names.flatMap { name in
    let path = getenv(name).map { String(cString: $0) } ?? ""
    return [contents(of: path), (try? RecordingFile.unpacked(path)) ?? []]
}.filter { !$0.isEmpty }

func fuzzRows(_ bytes: UnsafeRawBufferPointer) {
    guard !seeds.isEmpty else { fatalError("FIRSTLIGHT_FUZZ_RECORDING names no recording") }
    var words = Words(bytes)
    seeds[words.index(below: seeds.count)].withUnsafeBytes { file.write($0) }
    edit(file.path, &words)
    if let recording = try? RecordingReader.load(path: file.path) { showEverything(recording) }
    if let measurement = try? MeasurementReader.load(path: file.path) {
        showEverything(measurement)
    }
}

private func edit(_ path: String, _ words: inout Words) {
    var handle: OpaquePointer?
    guard sqlite3_open(path, &handle) == SQLITE_OK else { fatalError("cannot open the seed") }
    defer { sqlite3_close_v2(handle) }
    sqlite3_exec(handle, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", nil, nil, nil)
    let tables = column(0, of: "SELECT name FROM sqlite_schema WHERE type = 'table'", handle)
    if tables.contains("chunks") { editChunks(handle, &words) }
    for _ in 0..<8 where !words.isEmpty && !tables.isEmpty {
        let table = tables[words.index(below: tables.count)]
        let columns = column(1, of: "PRAGMA table_info(\(table))", handle)
        guard !columns.isEmpty else { continue }
        let name = columns[words.index(below: columns.count)]
        let row = words.index(below: 64)
        let value = value(&words)
        let sql = """
            UPDATE OR REPLACE \(table) SET \(name) = \(value)
            WHERE id = \(row) % max(1, (SELECT count(*) FROM \(table)))
            """
        sqlite3_exec(handle, sql, nil, nil, nil)
    }
}

/// Other bytes within the rows themselves: deflated ones would only fail their checksum.
private func editChunks(_ handle: OpaquePointer?, _ words: inout Words) {
    let ids = column(0, of: "SELECT id FROM chunks ORDER BY id", handle)
    for _ in 0..<4 where !words.isEmpty && !ids.isEmpty {
        let id = ids[words.index(below: ids.count)]
        guard var bytes = chunk(id, handle), !bytes.isEmpty else { continue }
        for _ in 0..<1 + words.index(below: 4) {
            bytes[words.index(below: bytes.count)] = words.byte()
        }
        let digits = bytes.map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }.joined()
        let sql = "UPDATE chunks SET size = \(bytes.count), data = x'\(digits)' WHERE id = \(id)"
        sqlite3_exec(handle, sql, nil, nil, nil)
    }
}

private func chunk(_ id: String, _ handle: OpaquePointer?) -> [UInt8]? {
    var statement: OpaquePointer?
    let sql = "SELECT size, data FROM chunks WHERE id = \(id)"
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { return nil }
    defer { sqlite3_finalize(statement) }
    guard sqlite3_step(statement) == SQLITE_ROW, let data = sqlite3_column_blob(statement, 1) else {
        return nil
    }
    let stored = UnsafeRawBufferPointer(
        start: data, count: Int(sqlite3_column_bytes(statement, 1)))
    return Chunk.unpacked(stored, size: Int(sqlite3_column_int64(statement, 0)))
}

private func value(_ words: inout Words) -> String {
    switch words.byte() % 8 {
    case 0: "NULL"
    case 1: "\(Int64(bitPattern: words.word()))"
    case 2: "\(Int8(bitPattern: words.byte()))"
    case 3: "\([Int64.min, Int64.max, 1 << 62, 1 << 32, -1, 1 << 53][words.index(below: 6)])"
    case 4: "x'\(hexadecimal(&words))'"
    case 5: "CAST(x'\(hexadecimal(&words))' AS TEXT)"
    case 6: "\(Int16(bitPattern: UInt16(truncatingIfNeeded: words.word())))"
    default: "1e\(words.byte())"
    }
}

private func hexadecimal(_ words: inout Words) -> String {
    words.bytes(words.index(below: 32)).map { byte in
        String(UInt16(byte) | 0x100, radix: 16).dropFirst()
    }.joined()
}

/// One column of a query's answer, as text.
private func column(_ index: Int32, of sql: String, _ handle: OpaquePointer?) -> [String] {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { return [] }
    defer { sqlite3_finalize(statement) }
    var result: [String] = []
    while sqlite3_step(statement) == SQLITE_ROW {
        if let text = sqlite3_column_text(statement, index) { result.append(String(cString: text)) }
    }
    return result
}
