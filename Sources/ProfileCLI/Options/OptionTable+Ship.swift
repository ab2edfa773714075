import Analysis

/// The options of `ship`, and those of other subcommands for querying a store.
extension OptionTable {
    static let shipping: [OptionDeclaration] = [
        .init(
            .to, "to", "URL", .text, for: [.ship],
            """
            the database: http://HOST:8123/DATABASE. Who may write there is told by CLICKHOUSE_USER and \
            CLICKHOUSE_PASSWORD in the environment
            """),
        .init(
            .createTables, "create-tables", for: [.ship],
            "make the database, its tables and its views first, those that are not there"),
        .init(
            .again, "again", for: [.ship],
            "ship also what is there already: of recordings, more names may be known by now"),
        .init(
            .from, "from", "URL", .text, for: [.history, .compare, .top],
            """
            ask the database to which launches were shipped, http://HOST:8123/DATABASE, in place of \
            files: operands are names of programs then (default: all); of compare a program and two \
            versions
            """),
        .init(
            .machines, "machines", "WHICH",
            .choice(LaunchHistory.Machines.allCases.map(\.rawValue)),
            for: [.history, .compare],
            """
            each: every machine has a series of its own (default for files); alike: those that differ \
            in nothing but their name have one (default with --from)
            """),
    ]
}
