import Analysis
import ProfileModel

/// What was imported, heaviest first, below what imported it.
struct ImportsView {
    let profile: Profile
    let options: TextOptions

    /// Percent of the whole below which imports are left out unless asked for.
    private static let usualPercent = 1.0

    func render() -> String {
        let weight = options.weight ?? .wall
        let tree = profile.imports(options.selection, weight: weight)
        guard !tree.roots.isEmpty else { return Self.none.wrapped(to: options.columns) }
        var table = TreeTable(
            tree: tree, options: options, percent: options.minPercent ?? Self.usualPercent)
        table.title = "IMPORT, WHAT IT IMPORTED BELOW"
        let text = table.render() ?? "  no import took long enough to be shown\n"
        return facts(tree).wrapped(to: options.columns) + "\n" + text
    }

    private static let none =
        "no imports were seen here: the program runs no Python, nor Node with record --runtime node, or "
        + "its imports were over before the recording began, or its frames could not be read"

    private func facts(_ tree: CallTree) -> String {
        let weight = tree.weight
        let all = tree.roots.reduce(StateTimes.zero) { $0 + tree.nodes[$1].total }
        return "imports took \(Numbers.time(weight.of(all))), "
            + "\(Numbers.percent(weight.of(all), of: weight.of(tree.total))) of what is shown; SELF is "
            + "without the imports that a module brought; from the stacks that were taken: what is "
            + "shorter than the time between two of them may be missing"
    }
}
