import Glibc
import ProfileModel
import TestSupport
import Testing

@testable import Recording

/// The `sqlite3` program, which is not ours, reads recordings; and the documentation's queries
/// are right.
@Suite(
    .enabled(
        if: access("/usr/bin/sqlite3", X_OK) == 0 || isContinuousIntegration,
        "sqlite3 is not installed"))
struct SQLiteShellTests {
    /// The output of `sqlite3 -bail PATH SQL`, and its exit status.
    private func run(_ sql: String, on path: String, _ scratch: Scratch) -> (String, Int32) {
        let output = scratch.path("output")
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let flags = O_WRONLY | O_CREAT | O_TRUNC
        posix_spawn_file_actions_addopen(&actions, 1, output, flags, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        let arguments = ["sqlite3", "-batch", "-bail", path, sql]
        var vector = arguments.map { strdup($0) } + [nil]
        defer { vector.forEach { free($0) } }
        var pid: pid_t = 0
        guard posix_spawn(&pid, "/usr/bin/sqlite3", &actions, nil, &vector, environ) == 0 else {
            return ("not run", -1)
        }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        return (String(decoding: readBytes(output), as: UTF8.self), status)
    }

    @Test func readsARecording() throws {
        let scratch = try Scratch()
        let path = scratch.path("a")
        var random = RandomRecording(seed: 9)
        let recording = random.make()
        try savePlain(recording, to: path)
        let running = recording.slices.reduce(0) { $0 + $1.times.running.nanoseconds }
        let (output, status) = run(
            "SELECT count(*), sum(running_ns) FROM slices; PRAGMA integrity_check", on: path,
            scratch)
        #expect(output == "\(recording.slices.count)|\(running)\nok\n")
        #expect(status == 0)
        try save(recording, to: scratch.path("packed"))
        let packed = run(
            "SELECT sum(rows) FROM chunks WHERE name = 'slices'; PRAGMA integrity_check",
            on: scratch.path("packed"), scratch)
        #expect(packed == ("\(recording.slices.count)\nok\n", 0))
    }

    @Test func readsAMeasurement() throws {
        let scratch = try Scratch()
        let path = scratch.path("a")
        var random = RandomMeasurement(seed: 9)
        let measurement = random.make()
        try save(measurement, to: path)
        let (output, status) = run(
            "SELECT count(*) FROM launches; PRAGMA integrity_check", on: path, scratch)
        #expect(output == "\(measurement.launches.count)\nok\n")
        #expect(status == 0)
    }

    @Test func theDocumentedQueriesWork() throws {
        let scratch = try Scratch()
        let path = scratch.path("a")
        var random = RandomRecording(seed: 9)
        try savePlain(random.make(), to: path)
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let page = String(
            decoding: readBytes("/\(root)/docs/recording-format.md"), as: UTF8.self)
        let queries = page.split(separator: "```sql\n").dropFirst().map { part in
            String(part.prefix { $0 != "`" })
        }
        #expect(queries.count >= 5)
        #expect(page.contains("the schema's version: \(Schema.version). "))
        var launches = RandomMeasurement(seed: 9)
        try save(launches.make(), to: scratch.path("b"))
        for query in queries {
            let isOfMeasurements = query.contains("FROM launches")
            let (output, status) = run(
                query, on: isOfMeasurements ? scratch.path("b") : path, scratch)
            #expect(status == 0 && !output.isEmpty, "\(query)\n\(output)")
        }
    }
}
