import Analysis

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
