import Analysis
import Exports
import ProfileModel

/// A call tree, one line for each function in it.
struct TreeView {
    let profile: Profile
    let options: TextOptions
    let isBottomUp: Bool

    /// Nodes below this percentage of the whole are left out by default.
    private static let defaultPercent = 1.0

    func render() -> String {
        let weight = options.treeWeight
        let percent = options.minPercent ?? Self.defaultPercent
        let tree =
            isBottomUp
            ? profile.bottomUp(
                options.selection, weight: weight, depth: options.depth, minPercent: percent)
            : profile.topDown(options.selection, weight: weight)
        var table = TreeTable(tree: tree, options: options, percent: percent)
        table.isBottomUp = isBottomUp
        guard let text = table.render() else { return "  nothing recorded here\n" }
        let base = ShareBase(profile, options.selection, weight: weight)
        return base.sentence.wrapped(to: options.columns) + "\n" + text
    }
}

/// The lines of a call tree with their figures.
struct TreeTable {
    let tree: CallTree
    var options: TextOptions
    /// Nodes below this share of the tree's total are left out.
    let percent: Double
    var isBottomUp = false
    /// The nodes to start with; nil: the tree's roots.
    var roots: [Int]?
    var title: String?

    /// nil: no node is heavy enough.
    func render() -> String? {
        let weight = tree.weight
        let other = weight.measures[1]
        var table = TextTable(
            columns: [
                .init(title: weight.measures[0].title), .init(title: "SHARE"),
                .init(title: isBottomUp ? other.title : "SELF", spareRank: 3),
            ] + FrameCells.columns(title: title ?? usualTitle, options))
        var lines = TreeLines(tree, percent: percent, roots: roots, options)
        while let line = lines.next() {
            let node = tree.nodes[line.node]
            table.rows.append(
                [
                    .init(Numbers.cell(weight.of(node.total))),
                    .init(Numbers.percent(weight.of(node.total), of: weight.of(tree.total))),
                    .init(
                        Numbers.cell(isBottomUp ? other.of(node.total) : weight.of(node.own))),
                ] + FrameCells.cells(node.frame, of: tree.frames, options, prefix: line.prefix))
        }
        guard !table.rows.isEmpty else { return nil }
        return table.render(width: options.columns, colour: options.usesColour)
    }

    private var usualTitle: String { isBottomUp ? "FUNCTION, CALLERS BELOW" : "CALL TREE" }
}

/// The lines of a call tree in reading order. Siblings are indented and joined by a branch. An only
/// child is right below its parent, so that long chains do not run off the page.
struct TreeLines {
    struct Line {
        var node: Int
        var prefix: String
    }

    private struct Pending {
        var node: Int
        var depth: Int
        /// The prefix of this node's line, and that of the lines below which belong to it.
        var prefix: String
        var below: String
    }

    private let tree: CallTree
    private let least: Double
    private let depth: Int
    private let widest: Int
    private var pending: [Pending] = []

    /// - Parameter roots: the nodes to start with, heaviest first; nil: the tree's roots.
    init(_ tree: CallTree, percent: Double, roots: [Int]? = nil, _ options: TextOptions) {
        self.tree = tree
        least = Double(tree.weight.of(tree.total).nanoseconds) * percent / 100
        depth = max(1, options.depth ?? .max)
        // Deeper branches are still joined, but not indented further.
        widest = options.columns / 3
        push(roots ?? Array(tree.roots), depth: 1, below: "")
    }

    /// nil after the last line.
    mutating func next() -> Line? {
        guard let current = pending.popLast() else { return nil }
        if current.depth < depth {
            push(
                Array(tree.nodes[current.node].children), depth: current.depth + 1,
                below: current.below)
        }
        return Line(node: current.node, prefix: current.prefix)
    }

    private mutating func push(_ nodes: [Int], depth: Int, below: String) {
        let shown = nodes.prefix {
            Double(tree.weight.of(tree.nodes[$0].total).nanoseconds) >= least
        }
        for (position, node) in shown.enumerated().reversed() {
            let own: (here: String, below: String) =
                if depth == 1 {
                    // The children of a root are to the right of it.
                    ("", "  ")
                } else if shown.count == 1 || below.count >= widest {
                    ("", "")
                } else {
                    position == shown.count - 1 ? ("└ ", "  ") : ("├ ", "│ ")
                }
            pending.append(
                Pending(
                    node: node, depth: depth, prefix: below + own.here, below: below + own.below))
        }
    }
}
