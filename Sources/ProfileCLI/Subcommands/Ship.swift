import Analysis
package import ClickHouse

/// `firstlight ship`.
enum ShipCommand {
    /// Ships, and returns the exit status: 1 if something could not be read or written.
    static func run(_ options: ShipOptions, _ console: Console) -> Int32 {
        do throws(Reading.Failure) {
            var run = ShipRun(options, to: try StoreAccess.store(at: options.store), console)
            do throws(StoreError) {
                try run.run()
            } catch {
                throw Reading.Failure(StoreAccess.words(error, options.store) + run.unsent)
            }
            return run.isIncomplete ? 1 : 0
        } catch {
            console.complain(error.message)
            return 1
        }
    }
}

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

/// The options of `ship`, and those of other subcommands for querying a store.
extension OptionTable {
    static let shipping: [OptionDeclaration] = [
        .init(
            .to, "to", "URL", .text, for: [.ship],
            """
            the database: http://HOST:8123/DATABASE. The environment's CLICKHOUSE_USER and \
            CLICKHOUSE_PASSWORD say who writes there
            """),
        .init(
            .createTables, "create-tables", for: [.ship],
            "first make the database, its tables and its views, if they are missing"),
        .init(
            .again, "again", for: [.ship],
            "also ship what is there already: recordings may have more names by now"),
        .init(
            .from, "from", "URL", .text, for: [.history, .compare, .top],
            """
            instead of files, ask the database to which launches were shipped, \
            http://HOST:8123/DATABASE: then operands are names of programs (default: all); for \
            compare, a program and two versions
            """),
        .init(
            .machines, "machines", "WHICH",
            .choice(LaunchHistory.Machines.allCases.map(\.rawValue)),
            for: [.history, .compare],
            """
            each: every machine has its own series (default for files); alike: machines that differ \
            only in their names share one (default with --from)
            """),
    ]
}
