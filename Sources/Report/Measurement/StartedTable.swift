import Analysis

/// The processes that an arm's launches started, by name.
struct StartedTable {
    let processes: [StartedProcesses]
    let options: TextOptions

    /// More than most read.
    private static let most = 12

    func render() -> String {
        var table = TextTable(
            columns: [TextTable.Column(title: "STARTED", alignment: .left, minimum: 12)]
                + ["A LAUNCH", "WALL", "MIN", "MAX", "CPU"].map { TextTable.Column(title: $0) })
        table.rows = processes.prefix(Self.most).map { process in
            [
                process.name.escapedForDisplay, Quantity.count.text(process.count.median),
                Quantity.time.text(process.wall.median), Quantity.time.text(process.wall.minimum),
                Quantity.time.text(process.wall.maximum),
                process.cpu.map { Quantity.time.text($0.median) } ?? Numbers.unknown,
            ].map { TextTable.Cell($0) }
        }
        let text = table.render(width: options.columns, colour: options.usesColour)
        let hidden = processes.count - Self.most
        guard hidden > 0 else { return text }
        return text
            + "\(Numbers.count(hidden, "more name")): see --format json".wrapped(
                to: options.columns)
    }
}
