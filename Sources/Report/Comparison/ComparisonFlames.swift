import Analysis
import Exports
import ProfileModel

/// A differential flame graph: callers below callees, phases below all. What took longer is red,
/// what took less is blue, and what did not change by enough is grey. What disappeared is shown,
/// too.
///
/// A box without callees is as wide as the longer of its two times. A box with callees is as wide
/// as these plus its own time. So there is room even if one callee disappeared and another one is
/// new.
struct ComparisonFlames {
    private let comparison: ProfileComparison
    private let phases: [ComparedPhase]

    /// - Parameter phases: positions in the comparison's list; nil: all.
    init(_ comparison: ProfileComparison, phases: Set<Int>?) {
        self.comparison = comparison
        self.phases = comparison.phases.indices.filter { phases?.contains($0) ?? true }
            .map { comparison.phases[$0] }
    }

    func render() -> String {
        let flames = phases.map { PhaseFlames(phase: $0, functions: comparison.functions) }
        let total = flames.reduce(TimeSpan.zero) { $0 + $1.width }
        var boxes: [FlamePage.Box] = []
        var start = TimeSpan.zero
        for (phase, flames) in zip(phases, flames) {
            guard FlamePage.isVisible(flames.width, of: total) else {
                start = start + flames.width
                continue
            }
            boxes.append(box(of: phase, from: start, width: flames.width))
            for place in flames.places(from: start, total: total) {
                boxes.append(box(of: phase.topDown.nodes[place.node], at: place))
            }
            start = start + flames.width
        }
        let names = comparison.profiles.map(\.title)
        return FlamePage(
            title: "\(names.before) → \(names.after): wall time of the main thread",
            subtitle: subtitle, total: total, boxes: boxes
        ).render()
    }

    private var subtitle: String {
        let wall = phases.reduce(Compared<TimeSpan>.zero) { $0 + $1.wall }
        let unsure = comparison.knowsSpread ? ", or none that is certain" : ""
        return "\(Numbers.time(wall.before)) before, \(Numbers.time(wall.after)) after; red took "
            + "longer, blue less, grey is no change of \(Numbers.time(comparison.leastChange)) or "
            + "more\(unsure); boxes are as wide as the longer time"
    }

    private func box(
        of phase: ComparedPhase, from start: TimeSpan, width: TimeSpan
    ) -> FlamePage.Box {
        FlamePage.Box(
            function: Function(
                name: phase.name, module: "phase", moduleIndex: nil, isOwn: false),
            depth: 0, start: start, width: width, figures: Self.words(phase.wall),
            fill: colour(phase.wall, phase.walls))
    }

    private func box(
        of node: ComparedTree.Node, at place: PhaseFlames.Place
    ) -> FlamePage.Box {
        let (total, own) = (node.total.map(\.wall), node.own.map(\.wall))
        return FlamePage.Box(
            function: comparison.functions[node.function], depth: place.depth, start: place.start,
            width: place.width,
            figures: Self.words(total) + "; itself " + Numbers.change(own.difference),
            fill: colour(total, node.walls))
    }

    /// "1.2 s before, 0.3 s after, -0.9 s"
    private static func words(_ wall: Compared<TimeSpan>) -> String {
        "\(Numbers.time(wall.before)) before, \(Numbers.time(wall.after)) after, "
            + Numbers.change(wall.difference)
    }

    /// The larger the changed part of the longer time, the deeper the colour.
    private func colour(_ wall: Compared<TimeSpan>, _ walls: LaunchWalls) -> String {
        let change = wall.difference
        guard comparison.isChange(wall, walls) else { return "#ddd" }
        let longest = max(wall.before.magnitude, wall.after.magnitude, 1)
        let share = min(1, Double(change.magnitude) / Double(longest))
        let lightness = 88 - Int(33 * share)
        return change > .zero ? "hsl(5,85%,\(lightness)%)" : "hsl(215,85%,\(lightness)%)"
    }
}

/// The places of one phase's nodes.
private struct PhaseFlames {
    let phase: ComparedPhase
    let functions: FrameTable
    private let widths: [TimeSpan]

    struct Place {
        var node: Int
        var depth: Int
        var start: TimeSpan
        var width: TimeSpan
    }

    init(phase: ComparedPhase, functions: FrameTable) {
        self.phase = phase
        self.functions = functions
        let nodes = phase.topDown.nodes
        var widths = nodes.map { max(.zero, $0.own.before.wall, $0.own.after.wall) }
        // Callees come after their callers.
        for index in nodes.indices.reversed() {
            if let parent = nodes[index].parent {
                widths[parent] = widths[parent] + widths[index]
            }
        }
        self.widths = widths
    }

    var width: TimeSpan { phase.topDown.roots.reduce(.zero) { $0 + widths[$1] } }

    /// The places of the visible nodes; children in the order of their names.
    func places(from start: TimeSpan, total: TimeSpan) -> [Place] {
        var result: [Place] = []
        var pending: [Place] = []
        func push(_ children: Range<Int>, from start: TimeSpan, depth: Int) {
            var start = start
            for node in children.sorted(by: precedes) {
                pending.append(
                    Place(node: node, depth: depth, start: start, width: widths[node]))
                start = start + widths[node]
            }
        }
        push(phase.topDown.roots, from: start, depth: 1)
        while let place = pending.popLast() {
            guard FlamePage.isVisible(place.width, of: total) else { continue }
            result.append(place)
            push(
                phase.topDown.nodes[place.node].children, from: place.start,
                depth: place.depth + 1)
        }
        return result.sorted { ($0.depth, $0.start) < ($1.depth, $1.start) }
    }

    private func precedes(_ left: Int, _ right: Int) -> Bool {
        let nodes = phase.topDown.nodes
        let names = (functions[nodes[left].function].name, functions[nodes[right].function].name)
        return names.0 != names.1 ? names.0 < names.1 : left < right
    }
}
