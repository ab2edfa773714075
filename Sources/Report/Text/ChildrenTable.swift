import Analysis
import ProfileModel

/// The processes that the program started, where they were followed, in the order of their start.
struct ChildrenTable {
    let profile: Profile
    let options: TextOptions

    /// Empty when there are none.
    func render() -> String {
        guard !profile.children.isEmpty else { return "" }
        var table = TextTable(columns: [
            .init(title: "CHILD", alignment: .left, minimum: 8), .init(title: "PID"),
            .init(title: "PARENT", spareRank: 1), .init(title: "WALL"), .init(title: "CPU"),
            .init(title: "ENDED", alignment: .left, spareRank: 2),
            .init(title: "RECORDING", alignment: .left, minimum: 12),
        ])
        table.rows = profile.children.sorted { ($0.start, $0.pid) < ($1.start, $1.pid) }.map(row)
        return table.render(width: options.columns, colour: options.usesColour)
    }

    private func row(_ child: ChildProcess) -> [TextTable.Cell] {
        let end =
            switch child.outcome {
            case .exited(let status): "status \(status)"
            case .signalled(let signal): SignalNames.label(signal)
            case .running: "runs on"
            case .unknown: "unknown"
            }
        return [
            child.name.escapedForDisplay, "\(child.pid)", "\(child.parent)",
            Numbers.cell(child.end - child.start), Numbers.cell(child.cpu), end,
            child.file.escapedForDisplay,
        ].map { TextTable.Cell($0) }
    }
}
