internal import ProfileModel
package import Shipping

/// Why a request to the store failed.
package enum StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    case unreachable(HTTPError)
    /// `words` is the first line of the server's message; `code` is ClickHouse's, or 0.
    case refused(status: Int, code: Int, words: String)
    /// The tables do not exist.
    case noTables
    /// The tables belong to another version of firstlight.
    case otherSchema(UInt32)
    /// The answer does not have the expected form.
    case malformed
    /// Launches were shipped between our questions, each time we tried.
    case changing

    package var description: String {
        switch self {
        case .unreachable(.tooLong): "the answer is too long: name the programs you mean"
        case .unreachable(let error): error.description
        case .refused(let status, 516, _), .refused(let status, 192, _),
            .refused(let status, 194, _):
            "the server does not accept this user and password (status \(status)): set "
                + "CLICKHOUSE_USER and CLICKHOUSE_PASSWORD"
        case .refused(_, 81, _):
            "the database does not exist: firstlight ship --create-tables creates it"
        case .refused(let status, let code, let words):
            "the server refuses (status \(status)\(code == 0 ? "" : ", code \(code)"))"
                + (words.isEmpty ? "" : ": \(words)")
        case .noTables:
            "firstlight's tables do not exist: firstlight ship --create-tables creates them"
        case .otherSchema(let version):
            "its tables have version \(version), and this firstlight reads \(Store.schemaVersion): "
                + (version > Store.schemaVersion
                    ? "use a newer firstlight" : "ship into a new database")
        case .changing:
            "launches are being shipped just now: ask again, or name the programs you mean"
        case .malformed: "the server's answer does not have the expected form"
        }
    }

    /// True if the same request may succeed later.
    var isTemporary: Bool {
        switch self {
        // We have waited long enough.
        case .unreachable(.unknownHost), .unreachable(.malformed), .unreachable(.tooLong),
            .unreachable(.timedOut):
            false
        case .unreachable: true
        // Too many requests, no memory, a timeout, read-only for the moment, too many parts.
        case .refused(let status, let code, _):
            [429, 502, 503, 504].contains(status) || [202, 159, 241, 242, 252].contains(code)
        case .noTables, .otherSchema, .malformed, .changing: false
        }
    }
}
