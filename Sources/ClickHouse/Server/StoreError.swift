internal import ProfileModel
package import Shipping

/// Why the store does not do what it is asked for.
package enum StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    case unreachable(HTTPError)
    /// The server's own words, one line of them; `code` is ClickHouse's, 0: it gave none.
    case refused(status: Int, code: Int, words: String)
    /// The tables are not there.
    case noTables
    /// They are of another version of firstlight.
    case otherSchema(UInt32)
    /// What it answered is not what was asked for.
    case malformed
    /// Between two questions there was always something new.
    case changing

    package var description: String {
        switch self {
        case .unreachable(.tooLong): "the answer is longer than is read: name the programs you mean"
        case .unreachable(let error): error.description
        case .refused(let status, 516, _), .refused(let status, 192, _),
            .refused(let status, 194, _):
            "the server knows neither this user nor this password (status \(status)): set "
                + "CLICKHOUSE_USER and CLICKHOUSE_PASSWORD"
        case .refused(_, 81, _):
            "there is no such database: firstlight ship --create-tables makes it"
        case .refused(let status, let code, let words):
            "the server refuses (status \(status)\(code == 0 ? "" : ", code \(code)"))"
                + (words.isEmpty ? "" : ": \(words)")
        case .noTables:
            "there are no tables of firstlight's: firstlight ship --create-tables makes them"
        case .otherSchema(let version):
            "its tables are of version \(version), and this firstlight knows \(Store.schemaVersion): "
                + (version > Store.schemaVersion
                    ? "use a newer firstlight" : "ship into a new database")
        case .changing:
            "launches are being shipped meanwhile: ask again, or name the programs you mean"
        case .malformed: "what the server answered was not what was asked for"
        }
    }

    /// Whether the same may do when it is asked again.
    var isTemporary: Bool {
        switch self {
        // Who was waited for once is not waited for again.
        case .unreachable(.unknownHost), .unreachable(.malformed), .unreachable(.tooLong),
            .unreachable(.timedOut):
            false
        case .unreachable: true
        // Too many at once, no memory, no time, read-only for the moment, too many parts.
        case .refused(let status, let code, _):
            [429, 502, 503, 504].contains(status) || [202, 159, 241, 242, 252].contains(code)
        case .noTables, .otherSchema, .malformed, .changing: false
        }
    }
}
