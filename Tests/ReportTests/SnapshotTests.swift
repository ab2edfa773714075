import Analysis
import Exports
import ProfileModel
import Report
import Testing

/// Whole reports of one recording, byte for byte.
@Suite struct SnapshotTests {
    private let profile = Profile(StarSearcher.recording())

    private func text(
        _ view: View = .summary, _ change: (inout TextOptions) -> Void = { _ in }
    ) -> String {
        var options = TextOptions()
        options.width = 110
        change(&options)
        return TextReport.render(profile, view: view, options: options)
    }

    @Test func summary() throws { try expectSnapshot(text(), "summary.txt") }

    @Test(arguments: [60, 80, 200])
    func summaryInOtherWidths(width: Int) throws {
        try expectSnapshot(text { $0.width = width }, "summary-\(width).txt")
    }

    @Test func summaryInColour() throws {
        try expectSnapshot(text { $0.usesColour = true }, "summary-colour.txt")
    }

    @Test(arguments: [View.heaviest, .tree, .bottomUp, .threads, .modules])
    func views(view: View) throws {
        try expectSnapshot(text(view), "\(view.rawValue).txt")
    }

    @Test func treeOfOnePhaseAndThreadByWall() throws {
        let selection = try profile.selection(phase: "Main", thread: "star loader")
        let report = text(.tree) {
            $0.selection = selection
            $0.weight = .wall
            $0.minPercent = 0
        }
        try expectSnapshot(report, "tree-wall.txt")
    }

    @Test func json() throws { try expectSnapshot(JSONReport.text(profile), "report.json") }

    @Test(arguments: [Weight.cpu, .wall])
    func folded(weight: Weight) throws {
        var options = FoldedStacks.Options()
        options.weight = weight
        try expectSnapshot(
            FoldedStacks.render(profile, options: options), "\(weight.rawValue).folded")
    }
}
