import Analysis
import Exports

/// The processes that an arm's launches started, by name.
struct StartedTable {
    let processes: [StartedProcesses]
    let options: TextOptions

    /// Few readers want more.
    private static let most = 12

    func render() -> String {
        let whole = table(withExtremes: true)
        let fits = whole.naturalWidth <= options.columns
        let text = (fits ? whole : table(withExtremes: false))
            .render(width: options.columns, colour: options.usesColour)
        let hidden = processes.count - Self.most
        guard hidden > 0 else { return text }
        let more = "\(Numbers.count(hidden, "more name")): see --format json"
        return text + more.wrapped(to: options.columns)
    }

    /// If there is no room for all, the medians matter most.
    private func table(withExtremes: Bool) -> TextTable {
        let extremes = withExtremes ? ["MIN", "MAX"] : []
        var table = TextTable(
            columns: [TextTable.Column(title: "STARTED", alignment: .left, minimum: 12)]
                + (["A LAUNCH", "WALL"] + extremes + ["CPU"]).map { TextTable.Column(title: $0) })
        table.rows = processes.prefix(Self.most).map { process in
            let wall = process.wall
            let times = [wall.median] + (withExtremes ? [wall.minimum, wall.maximum] : [])
            let cells =
                [process.name.escapedForDisplay, Quantity.count.text(process.count.median)]
                + times.map(Quantity.time.text)
                + [process.cpu.map { Quantity.time.text($0.median) } ?? Numbers.unknown]
            return cells.map { TextTable.Cell($0) }
        }
        return table
    }
}
