import Analysis
import ProfileModel

/// A flame graph as an SVG file: callers below callees, as wide as their time.
struct FlameGraph {
    private let profile: Profile
    private let options: ExportOptions
    private let nodes: [Node]
    private let total: TimeSpan

    init(_ profile: Profile, _ options: ExportOptions) {
        self.profile = profile
        self.options = options
        var layout = FlameLayout(profile)
        let stacks = profile.weighedStacks(
            options.selection, weight: options.weight, byPhase: false, byThread: false)
        for stack in stacks { layout.add(stack) }
        nodes = layout.placed()
        total = layout.total
    }

    struct Node {
        var function: FunctionID
        var depth: Int
        var start: TimeSpan
        var weight: TimeSpan
    }

    func render() -> String {
        FlamePage(
            title: "\(profile.title): \(options.weight.rawValue) time",
            subtitle: subtitle, total: total, boxes: nodes.map(box)
        ).render()
    }

    private var subtitle: String {
        guard total > .zero else { return "no \(options.weight.rawValue) time in this selection" }
        let narrow = nodes.isEmpty ? "" : "; boxes narrower than a third of a pixel are left out"
        return Numbers.time(total) + " in all threads together" + narrow
    }

    private func box(_ node: Node) -> FlamePage.Box {
        let function = profile.frames[node.function]
        let share = 100 * Double(node.weight.nanoseconds) / Double(max(1, total.nanoseconds))
        return FlamePage.Box(
            function: function, depth: node.depth, start: node.start, width: node.weight,
            figures: "\(Numbers.time(node.weight)), \(XML.number(share)) %",
            fill: colour(function))
    }

    /// Own code has warm colours, and the system's code has cool ones. Frames that are not code are
    /// grey; scripts are yellow and green. The hue distinguishes neighbours, and is the same in
    /// every graph.
    private func colour(_ function: Function) -> String {
        if function.name.hasPrefix("[") { return "#ccc" }
        let hash = function.name.utf8.reduce(UInt32(5381)) { $0 &* 33 &+ UInt32($1) }
        let shade = Int(hash % 12)
        return function.isOwn
            ? "hsl(\((function.isScripted ? 46 : 20) + shade * 2),85%,\(62 + shade)%)"
            : "hsl(\((function.isScripted ? 110 : 190) + shade * 3),45%,\(72 + shade)%)"
    }
}

/// Merges stacks by function, and places each frame: children in the order of their names, so that
/// two graphs can be compared.
private struct FlameLayout {
    private struct Entry {
        var function: FunctionID
        var depth: Int
        var weight: TimeSpan
        var children: [FunctionID: Int] = [:]
    }

    private let frames: FrameTable
    private var entries: [Entry] = []
    private var roots: [FunctionID: Int] = [:]
    private(set) var total = TimeSpan.zero

    init(_ profile: Profile) { frames = profile.frames }

    mutating func add(_ stack: WeighedStack) {
        total = total + stack.weight
        var parent: Int?
        for (depth, frame) in stack.frames.enumerated() {
            let function = frames[frame].function
            let known = parent.map { entries[$0].children[function] } ?? roots[function]
            let index = known ?? entries.count
            if known == nil {
                entries.append(Entry(function: function, depth: depth, weight: .zero))
                if let parent {
                    entries[parent].children[function] = index
                } else {
                    roots[function] = index
                }
            }
            entries[index].weight = entries[index].weight + stack.weight
            parent = index
        }
    }

    /// The visible frames.
    func placed() -> [FlameGraph.Node] {
        var result: [FlameGraph.Node] = []
        var pending: [(index: Int, start: TimeSpan)] = []
        func push(_ children: [FunctionID: Int], from start: TimeSpan) {
            var start = start
            for child in children.values.sorted(by: precedes) {
                pending.append((child, start))
                start = start + entries[child].weight
            }
        }
        push(roots, from: .zero)
        while let (index, start) = pending.popLast() {
            let entry = entries[index]
            guard FlamePage.isVisible(entry.weight, of: total) else { continue }
            result.append(
                FlameGraph.Node(
                    function: entry.function, depth: entry.depth, start: start,
                    weight: entry.weight))
            push(entry.children, from: start)
        }
        return result.sorted { ($0.depth, $0.start) < ($1.depth, $1.start) }
    }

    private func precedes(_ left: Int, _ right: Int) -> Bool {
        let (first, second) = (frames[entries[left].function], frames[entries[right].function])
        if first.name != second.name { return first.name < second.name }
        return (first.module, entries[left].function.rawValue)
            < (second.module, entries[right].function.rawValue)
    }
}
