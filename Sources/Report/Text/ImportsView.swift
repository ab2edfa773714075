import Analysis
import Exports
import ProfileModel

/// The imports, heaviest first, each below its importer.
struct ImportsView {
    let profile: Profile
    let options: TextOptions

    /// Imports below this percentage of the whole are left out by default.
    private static let usualPercent = 1.0

    func render() -> String {
        let imports = profile.imports(options.selection, weight: options.weight ?? .wall)
        guard !imports.tree.roots.isEmpty else {
            return Self.none.wrapped(to: options.columns)
        }
        let text = table(imports) ?? "  no import took long enough to be shown\n"
        return facts(imports).wrapped(to: options.columns) + "\n" + text
    }

    private static let none =
        "no imports were seen here: the program runs no Python, nor Node with record --runtime node, or "
        + "its imports were over before the recording began, or its frames could not be read"

    // MARK: Table

    /// nil: no import is heavy enough.
    private func table(_ imports: ImportTree) -> String? {
        let tree = imports.tree
        let (weight, other) = (tree.weight, tree.weight.measures[1])
        let hasReading = imports.reading.contains { $0 > .zero }
        var table = TextTable(
            columns: [
                .init(title: weight.measures[0].title), .init(title: "SHARE", spareRank: 6),
                .init(title: "SELF"), .init(title: other.title, spareRank: 4),
                .init(title: "SELF", spareRank: 5),
            ])
        if hasReading { table.columns.append(.init(title: "FILES", spareRank: 3)) }
        table.columns.append(
            .init(title: "IMPORT, WHAT IT IMPORTED BELOW", alignment: .left, minimum: 16))
        var lines = TreeLines(
            tree, percent: options.minPercent ?? Self.usualPercent, options)
        while let line = lines.next() {
            let node = tree.nodes[line.node]
            var cells: [TextTable.Cell] = [
                .init(Numbers.cell(weight.of(node.total))),
                .init(Numbers.percent(weight.of(node.total), of: weight.of(tree.total))),
                .init(Numbers.cell(weight.of(node.own))),
                .init(Numbers.cell(other.of(node.total))),
                .init(Numbers.cell(other.of(node.own))),
            ]
            if hasReading { cells.append(.init(Numbers.cell(imports.reading[line.node]))) }
            cells += FrameCells.cells(node.frame, of: tree.frames, options, prefix: line.prefix)
                .prefix(1)
            table.rows.append(cells)
        }
        guard !table.rows.isEmpty else { return nil }
        return table.render(width: options.columns, colour: options.usesColour)
    }

    // MARK: Facts

    private func facts(_ imports: ImportTree) -> String {
        let (tree, weight) = (imports.tree, imports.tree.weight)
        let all = tree.roots.reduce(StateTimes.zero) { $0 + tree.nodes[$1].total }
        let reading = tree.roots.reduce(TimeSpan.zero) { $0 + imports.reading[$1] }
        let files =
            reading > .zero
            ? "; FILES is the time in which they waited for files (\(Numbers.time(reading)) in all; "
                + "waits shorter than 1 ms are not known)" : ""
        let base = ShareBase(profile, options.selection, weight: weight)
        return "imports took \(Numbers.time(weight.of(all))), "
            + "\(Numbers.percent(weight.of(all), of: base.total)) of \(base.words); SELF is "
            + "without what a module imported itself\(files); imports that began and ended between "
            + "two samples are missing"
    }
}
