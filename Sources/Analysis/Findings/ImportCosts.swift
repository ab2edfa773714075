import ProfileModel

/// The time of the main thread's imports.
struct ImportCosts {
    private let steps: ImportSteps
    private let frames: FrameTable
    /// Parts that no rule has claimed, by the innermost import.
    private var own: [[Profile.Part]]
    private(set) var children: [[Int]]
    private let ends: [TimeSpan]
    private let starts: [TimeSpan]

    init(_ steps: ImportSteps, in search: FindingSearch) {
        self.steps = steps
        let profile = search.profile
        frames = profile.frames
        var own = [[Profile.Part]](repeating: [], count: steps.steps.count)
        let launch = TimeWindows([search.window(from: .zero, to: search.end)])
        profile.forEachPart(in: search.mainThread(in: search.unclaimed(launch))) { part in
            let step = steps.step(of: profile.paths.path(ofLine: part.line))
            if step != ImportSteps.none { own[Int(step)].append(part) }
        }
        self.own = own
        var children = [[Int]](repeating: [], count: steps.steps.count)
        var ends = own.map { $0.reduce(TimeSpan.zero) { max($0, $1.end) } }
        var starts = own.map { $0.map(\.start).min() ?? search.end }
        for (index, step) in steps.steps.enumerated().reversed() where step.parent >= 0 {
            let parent = Int(step.parent)
            children[parent].append(index)
            ends[parent] = max(ends[parent], ends[index])
            starts[parent] = min(starts[parent], starts[index])
        }
        (self.children, self.ends, self.starts) = (children, ends, starts)
    }

    var roots: [Int] { steps.steps.indices.filter { steps.steps[$0].parent == ImportSteps.none } }

    func step(_ node: Int) -> FunctionID { steps.function(of: node, frames) }
    func end(of node: Int) -> TimeSpan { ends[node] }

    private func nodes(below node: Int, without left: Set<Int> = []) -> [Int] {
        var (result, pending) = ([Int](), [node])
        while let next = pending.popLast() {
            result.append(next)
            pending += children[next].filter { !left.contains($0) }
        }
        return result
    }

    func parts(of node: Int, without left: [Int] = []) -> [Profile.Part] {
        nodes(below: node, without: Set(left)).flatMap { own[$0] }
    }

    func total(_ node: Int) -> TimeSpan {
        parts(of: node).reduce(.zero) { $0 + $1.times.effort }
    }

    func heaviestLine(in node: Int) -> Int32? {
        var sums: [Int32: TimeSpan] = [:]
        for part in parts(of: node) {
            sums[part.line] = (sums[part.line] ?? .zero) + part.times.wall
        }
        return sums.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
    }

    /// The outermost nested imports that are in use, and take long enough to matter.
    func usedBelow(_ node: Int, _ isUsed: (Int) -> Bool) -> [Int] {
        var (result, pending) = ([Int](), children[node])
        while let next = pending.popLast() {
            guard total(next) >= Self.leastUsed else { continue }
            if isUsed(next) { result.append(next) } else { pending += children[next] }
        }
        return result.sorted()
    }

    private static let leastUsed = TimeSpan.milliseconds(1)

    /// Whether the developer can do something about it. The interpreter's own imports from its own
    /// library are part of every launch.
    func isTheProgramsDoing(
        _ node: Int, _ search: FindingSearch, _ sightings: ScriptSightings
    ) -> Bool {
        let startUp = search.profile.phases.last { $0.name == Phase.Names.interpreter }
        guard let startUp, startUp.whole != nil, starts[node] < startUp.end else { return true }
        return sightings.isInstalled(search.moduleName(step(node)))
    }
}
