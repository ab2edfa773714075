internal import ProfileModel
package import Shipping

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
