import Foundation

/// When the program of a recording was ready, read by none of our own code.
struct StoredReadiness {
    /// Of CLOCK_MONOTONIC.
    var nanoseconds: Int64
    var condition: String

    /// nil: the recording has none.
    init?(of recording: String) throws {
        let query = "select time_ns || ' ' || condition from ready"
        let result = try Command(["sqlite3", recording, query]).run()
        let words = result.output.split(separator: " ", maxSplits: 1)
        guard words.count == 2, let time = Int64(words[0]) else { return nil }
        nanoseconds = time
        condition = words[1].trimmingCharacters(in: .newlines)
    }
}
