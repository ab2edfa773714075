import Analysis
import Exports
import ProfileModel
import Report
import Testing

/// Whole reports of one recording, byte for byte.
@Suite struct SnapshotTests {
    private let profile = Profile(StarSearcher.recording())

    private func text(
        _ view: View = .full, _ change: (inout TextOptions) -> Void = { _ in }
    ) -> String {
        var options = TextOptions()
        options.width = 110
        change(&options)
        return TextReport.render(profile, view: view, options: options)
    }

    @Test func full() throws { try expectSnapshot(text(), "full.txt") }

    @Test(arguments: [60, 100]) func summary(width: Int) throws {
        try expectSnapshot(text(.summary) { $0.width = width }, "summary-\(width).txt")
    }

    @Test func markdown() throws {
        try expectSnapshot(MarkdownReport(profile).render(), "summary.md")
    }

    @Test(arguments: [60, 80, 200])
    func fullInOtherWidths(width: Int) throws {
        try expectSnapshot(text { $0.width = width }, "full-\(width).txt")
    }

    @Test func fullInColour() throws {
        try expectSnapshot(text { $0.usesColour = true }, "full-colour.txt")
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
