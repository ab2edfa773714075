import Analysis
import Exports
import ProfileModel
import Report
import Testing

/// Reports of a launch with recorded libraries, initialisers and signposts, byte for byte.
@Suite struct FactSnapshotTests {
    private let profile = Profile(StarSearcher.recordingWithFacts())

    private func text(
        _ view: View = .full, _ change: (inout TextOptions) -> Void = { _ in }
    ) -> String {
        var options = TextOptions()
        options.width = 110
        change(&options)
        return TextReport.render(profile, view: view, options: options)
    }

    @Test(arguments: [
        View.full, .libraries, .initializers, .intervals, .events, .timeline, .threads,
        .findings,
    ])
    func views(view: View) throws {
        try expectSnapshot(text(view), "facts-\(view.rawValue).txt")
    }

    @Test(arguments: [View.libraries, .initializers, .intervals, .events, .timeline, .findings])
    func viewsInLittleRoom(view: View) throws {
        try expectSnapshot(text(view) { $0.width = 60 }, "facts-\(view.rawValue)-60.txt")
    }

    @Test(arguments: [View.full, .tree])
    func oneInterval(view: View) throws {
        let selection = try profile.selection(interval: "prewarm")
        try expectSnapshot(
            text(view) { $0.selection = selection }, "facts-interval-\(view.rawValue).txt")
    }

    @Test func json() throws { try expectSnapshot(JSONReport.text(profile), "facts.json") }

    /// Each line of the folded stacks is a path of the tree.
    @Test(arguments: [Weight.cpu, .wall])
    func foldedIntervalIsItsTree(weight: Weight) throws {
        let selection = try profile.selection(interval: "prewarm")
        var options = FoldedStacks.Options()
        options.selection = selection
        options.weight = weight
        options.showsPhase = false
        options.showsThread = false
        var sums: [String: Int64] = [:]
        for line in FoldedStacks.render(profile, options: options).split(separator: "\n") {
            let space = try #require(line.lastIndex(of: " "))
            let count = try #require(Int64(line[space...].dropFirst()))
            let stack = line[..<space].replacing("_[i]", with: "").split(separator: ";")
            for length in 1...stack.count {
                sums[stack[..<length].joined(separator: ";"), default: 0] += count
            }
        }
        let tree = profile.topDown(selection, weight: weight)
        var pending = tree.roots.map { (node: $0, path: "") }
        var nodes = 0
        while let (index, path) = pending.popLast() {
            let node = tree.nodes[index]
            let name = path + tree.function(of: node).name
            #expect(sums[name] == weight.of(node.total).nanoseconds / 1000, "\(name)")
            pending += node.children.map { ($0, name + ";") }
            nodes += 1
        }
        #expect(nodes == sums.count && nodes > 5)
    }
}
