internal import Compression
package import ProfileModel
package import Shipping

/// A database of a ClickHouse server, through its HTTP interface.
package struct Store: Sendable {
    /// The version that the view `schema` must report.
    package static let schemaVersion: UInt32 = 1

    package let address: StoreAddress
    private let headers: [(name: String, value: String)]
    private let client: HTTPClient
    private let pause: @Sendable (TimeSpan) -> Void

    /// The same credentials that `clickhouse-client` takes from the environment.
    package struct Credentials: Sendable {
        package var user: String?
        package var password: String?

        package init(user: String?, password: String?) {
            (self.user, self.password) = (user, password)
        }

        /// nil: they contain characters that a header cannot have.
        fileprivate var headers: [(name: String, value: String)]? {
            let all = [("X-ClickHouse-User", user), ("X-ClickHouse-Key", password)]
            let given = all.compactMap { name, value in value.map { (name: name, value: $0) } }
            let isVisible = given.allSatisfy {
                $0.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
            }
            return isVisible ? given : nil
        }
    }

    /// - Parameter pause: waits for the given time.
    /// - Returns: nil if the credentials contain control characters.
    package init?(
        _ address: StoreAddress, _ credentials: Credentials,
        client: HTTPClient = HTTPClient(limit: .milliseconds(120_000)),
        pause: @escaping @Sendable (TimeSpan) -> Void
    ) {
        guard let headers = credentials.headers else { return nil }
        self.address = address
        self.headers = headers
        self.client = client
        self.pause = pause
    }

    /// Runs a query and returns its rows.
    ///
    /// - Parameter question: without a FORMAT clause.
    func ask(_ question: String) throws(StoreError) -> RowBinaryReader {
        let text = "\(question)\nSETTINGS \(Self.settings) FORMAT RowBinary"
        let body = try post(Array(text.utf8), [("database", address.database)], headers)
        return RowBinaryReader(body)
    }

    /// Makes answers independent of the user's settings.
    private static let settings =
        "join_use_nulls = 0, aggregate_functions_null_for_empty = 0, "
        + "do_not_merge_across_partitions_select_final = 0"

    /// Runs a statement that may be repeated.
    ///
    /// - Parameter isInDatabase: false if the database may not exist yet.
    func run(_ statement: String, isInDatabase: Bool = true) throws(StoreError) {
        let database = isInDatabase ? [("database", address.database)] : []
        _ = try post(Array(statement.utf8), database, headers)
    }

    /// Inserts rows into a table: all of them or none.
    ///
    /// - Parameter rows: at most ``mostRows``, all of one partition.
    func insert(_ rows: [UInt8], into table: String, _ columns: [String]) throws(StoreError) {
        let list = columns.joined(separator: ", ")
        let query = "INSERT INTO \(table) (\(list)) FORMAT RowBinary"
        // Inserted as one block, so that readers and views never see a part of it.
        let settings = [
            ("database", address.database), ("query", query), ("async_insert", "0"),
            ("input_format_parallel_parsing", "0"), ("max_insert_block_size", "\(Self.mostRows)"),
        ]
        let packed = rows.count > 1_000 ? Gzip.compressed(rows) : rows
        let isPacked = packed.count < rows.count
        let coding = isPacked ? [(name: "Content-Encoding", value: "gzip")] : []
        _ = try post(isPacked ? packed : rows, settings, headers + coding)
    }

    static let mostRows = 1_000_000

    /// The number of attempts, with growing pauses in between.
    private static let attempts = 4

    private func post(
        _ body: [UInt8], _ parameters: [(String, String)],
        _ headers: [(name: String, value: String)]
    ) throws(StoreError) -> [UInt8] {
        var wait = TimeSpan.milliseconds(250)
        for _ in 1..<Self.attempts {
            do throws(StoreError) {
                return try postOnce(body, parameters, headers)
            } catch {
                guard error.isTemporary else { throw error }
            }
            pause(wait)
            wait = wait + wait
        }
        return try postOnce(body, parameters, headers)
    }

    private func postOnce(
        _ body: [UInt8], _ parameters: [(String, String)],
        _ headers: [(name: String, value: String)]
    ) throws(StoreError) -> [UInt8] {
        // Makes errors arrive before the first row, not in the middle of an answer.
        let all = parameters + [("wait_end_of_query", "1")]
        let query = all.map { "\($0)=\($1.percentEncoded)" }.joined(separator: "&")
        let response: HTTPResponse
        do throws(HTTPError) {
            response = try client.post(
                body, to: address.server.with(path: "/?\(query)"), headers: headers)
        } catch {
            throw .unreachable(error)
        }
        let code = response.headers["x-clickhouse-exception-code"].flatMap { Int($0) }
        guard response.isSuccess, code == nil else {
            let text = String(decoding: response.body.prefix(2_000), as: UTF8.self)
            let line = text.split(whereSeparator: \.isNewline).first.map { String($0.prefix(300)) }
            throw .refused(status: response.status, code: code ?? 0, words: line ?? "")
        }
        return response.body
    }
}

extension String {
    /// For a value in a URL.
    fileprivate var percentEncoded: String {
        var text = ""
        for byte in utf8 {
            let letter = byte | 0x20
            let isPlain =
                (0x30...0x39).contains(byte) || (0x61...0x7A).contains(letter) && byte < 0x80
                || [0x2D, 0x2E, 0x5F, 0x7E].contains(byte)
            if isPlain {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                text += "%" + (digits.utf8.count == 1 ? "0" : "") + digits
            }
        }
        return text
    }
}

/// A database on a ClickHouse server: `http://HOST:8123/DB`.
package struct StoreAddress: Hashable, Sendable, CustomStringConvertible {
    package let server: WebAddress
    package let database: String

    package enum Problem: Error, Hashable, Sendable, CustomStringConvertible {
        case address(WebAddress.Problem)
        case database

        package var description: String {
            switch self {
            case .address(.credentials):
                "credentials belong in the environment (CLICKHOUSE_USER, CLICKHOUSE_PASSWORD), not in "
                    + "an address"
            case .address(let problem): problem.description
            case .database:
                "the database's name is missing, or has other characters than letters, digits and _: "
                    + "http://HOST:8123/DATABASE"
            }
        }
    }

    package init(_ text: String) throws(Problem) {
        let address: WebAddress
        do throws(WebAddress.Problem) {
            address = try WebAddress(text, standardPort: 8123)
        } catch {
            throw .address(error)
        }
        let name = address.path.dropFirst()
        let isName = name.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == 0x5F
        }
        guard isName, let first = name.utf8.first, !(0x30...0x39).contains(first),
            name.utf8.count <= 64
        else { throw .database }
        server = address.with(path: "/")
        database = String(name)
    }

    package var description: String { "http://\(server.authority)/\(database)" }
}
