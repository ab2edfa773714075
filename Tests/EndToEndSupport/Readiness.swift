import Foundation
import Testing

/// When the program of a recording was ready, read without our own code.
package struct StoredReadiness {
    /// On CLOCK_MONOTONIC.
    package var nanoseconds: Int64
    package var condition: String

    /// nil: the recording has none.
    package init?(of recording: String) throws {
        guard let row = try StoredRows("ready", of: recording).first else { return nil }
        nanoseconds = try #require(row["time_ns"] as? Int64)
        condition = try #require(row["condition"] as? String)
    }
}

/// The rows of a recording's table, read without our own code.
package struct StoredRows {
    private static let reader = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Benchmarks/recording.py").standardized.path

    private let rows: [[String: Any]]

    package init(_ table: String, of recording: String) throws {
        let result = try Command(["python3", Self.reader, recording, table]).run()
        guard result.status == 0 else {
            throw Command.Failure(description: "not read: \(result)")
        }
        rows = try result.output.split(separator: "\n").map { line in
            let row = try JSONSerialization.jsonObject(with: Data(line.utf8))
            return row as? [String: Any] ?? [:]
        }
    }

    package var first: [String: Any]? { rows.first }

    /// The known values of a column.
    package func numbers(_ column: String) -> [Int64] { rows.compactMap { $0[column] as? Int64 } }
}
