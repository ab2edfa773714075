import ProfileModel

/// An initialiser of a Go package uses much CPU time. Go's runtime calls the initialisers one after
/// the other before `main.main`. Firstlight does not time them: their times come from samples.
struct GoInitializers: FindingRule {
    func findings(in search: inout FindingSearch) -> [Finding] {
        guard search.profile.frames.functions.contains(where: Self.isLoop) else { return [] }
        let windows = search.rest
        let tree = search.profile.topDown(search.mainThread(in: windows), weight: .cpu)
        let found = Self.initializers(tree).compactMap { finding($0, tree, in: windows, search) }
        search.claim(TimeWindows(found.map(\.range)))
        return found
    }

    /// The paths to the functions that the runtime's loop over initialisers called.
    private static func initializers(_ tree: CallTree) -> [[Int]] {
        var found: [[Int]] = []
        var pending = tree.roots.map { [$0] }
        while let path = pending.popLast() {
            guard let last = path.last else { continue }
            let isLoop = isLoop(tree.function(of: tree.nodes[last]))
            if !isLoop, let caller = path.dropLast().last,
                self.isLoop(tree.function(of: tree.nodes[caller]))
            {
                found.append(path)
            } else {
                pending += tree.nodes[last].children.map { path + [$0] }
            }
        }
        return found
    }

    /// `doInit`; since Go 1.21 `doInit1` for each package.
    private static func isLoop(_ function: Function) -> Bool {
        function.name.hasPrefix("runtime.doInit")
    }

    private func finding(
        _ path: [Int], _ tree: CallTree, in windows: TimeWindows, _ search: FindingSearch
    ) -> Finding? {
        guard let last = path.last else { return nil }
        let (total, frame) = (tree.nodes[last].total, tree.nodes[last].frame)
        let function = tree.frames[frame].function
        guard total.running >= search.least, let range = search.range(of: function, in: windows)
        else { return nil }
        let place = tree.frames[frame]
        let evidence = InitializerEvidence(
            wall: total.wall, cpu: total.running, module: tree.frames[function].module,
            file: place.file, line: place.line, isUnused: false)
        return Finding(
            subject: .initializer(evidence), saving: total.running + total.blocked,
            thread: search.mainThread(at: range.lowerBound), range: range, place: frame,
            stack: path.map { tree.nodes[$0].frame })
    }
}
