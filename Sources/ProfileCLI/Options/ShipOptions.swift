package import ClickHouse

/// The options of `ship`.
package struct ShipOptions: Sendable {
    /// Files and folders; empty only when tables are created.
    package var paths: [String]
    package var store: StoreAddress
    package var createsTables: Bool
    /// True to ship sessions again that are in the store already: better names may be known now.
    package var isAgain: Bool

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        paths = arguments.operands
        createsTables = arguments.isGiven(.createTables)
        isAgain = arguments.isGiven(.again)
        guard let text = arguments.text(.to) else {
            throw UsageError(.ship, "--to is missing: http://HOST:8123/DATABASE")
        }
        store = try Self.store(text, "to", .ship)
        guard createsTables || !paths.isEmpty else {
            throw UsageError(.ship, "no file or folder given" + UsageError.seeHelp(.ship))
        }
    }

    /// The store that an option names.
    static func store(
        _ text: String, _ option: String, _ subcommand: Subcommand
    ) throws(UsageError) -> StoreAddress {
        do throws(StoreAddress.Problem) {
            return try StoreAddress(text)
        } catch {
            // The address may contain a secret, so it is not repeated.
            throw UsageError(subcommand, "--\(option): \(error.description)")
        }
    }
}
