import CSystem
import ClickHouse
import Recording
import Report
import Symbolicate

/// The version of firstlight, and the versions of its formats that it writes and reads.
package enum Version {
    /// The only place with the version: recordings contain it, and packages take it from
    /// `--version`.
    package static let current = "1.0.0"
    /// When it was released, for the manual pages.
    static let date = "2026-11-27"

    /// The output of `--version`. Scripts read its first line.
    package static var description: String {
        let width = rows.map(\.name.count).max() ?? 0
        let lines = rows.map { row in
            row.name + String(repeating: " ", count: width - row.name.count + 2) + row.value
        }
        return (["firstlight \(current)"] + lines).joined(separator: "\n") + "\n"
    }

    private static var rows: [(name: String, value: String)] {
        let files = FileKind.allCases.map { kind in (kind.noun, "schema \(kind.version)") }
        let json = JSONSchema.allCases.map { "\($0.rawValue) \($0.version)" }
        return [("commit", String(cString: fl_build_commit()))] + files + [
            ("symbol cache", "version \(SymbolCache.version)"),
            ("database", "schema \(Store.schemaVersion)"),
            ("JSON", json.joined(separator: ", ")),
        ]
    }
}
