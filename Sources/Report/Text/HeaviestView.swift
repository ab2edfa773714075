import Analysis
import Exports
import ProfileModel

/// The heaviest stack of a selection, and its functions by their own time.
struct HeaviestView {
    let profile: Profile
    let options: TextOptions

    /// Functions below this percentage of the whole are left out by default.
    private static let defaultPercent = 0.5

    func render() -> String {
        let weight = options.treeWeight
        let stack = profile.heaviestStack(options.selection, weight: weight)
        let list = functions(weight)
        guard !list.rows.isEmpty else { return "  nothing recorded here\n" }
        let text = StackTableView(
            stack: stack, frames: profile.frames, caption: "Heaviest stack", options: options
        ).render()
        return (stack.entries.isEmpty ? "" : text + "\n")
            + list.render(width: options.columns, colour: options.usesColour)
    }

    private func functions(_ weight: Weight) -> TextTable {
        let title = weight.measures[0].title
        var table = TextTable(columns: [
            .init(title: "SELF \(title)"), .init(title: "SHARE"), .init(title: "TOTAL \(title)"),
            .init(title: "FUNCTION", alignment: .left, minimum: 20),
            .init(title: "", alignment: .left, minimum: 10, spareRank: 1),
        ])
        let whole = weight.of(profile.times(in: options.selection))
        let least = Double(whole.nanoseconds) * (options.minPercent ?? Self.defaultPercent) / 100
        for figures in profile.functions(options.selection, orderedBy: weight) {
            let own = weight.of(figures.own)
            guard own > .zero, Double(own.nanoseconds) >= least,
                table.rows.count < options.depth ?? .max
            else { break }
            let function = profile.frames[figures.function]
            table.rows.append([
                .init(Numbers.cell(own)), .init(Numbers.percent(own, of: whole)),
                .init(Numbers.cell(weight.of(figures.total))), function.cell(),
                function.moduleCell,
            ])
        }
        return table
    }
}
