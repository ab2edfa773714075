import ProfileModel

/// The imports of a profile's stacks as a forest: each below the import that brought it.
struct ImportTable {
    struct Node {
        /// ``PathTable/none``: no other import brought it.
        var parent: Int32
        /// The step `import NAME`.
        var function: FunctionID
    }

    /// Parents before what they brought.
    private(set) var nodes: [Node] = []
    /// Of each path the innermost import that it is in; ``PathTable/none``: it is in none.
    private(set) var byPath: [Int32] = []

    private struct Key: Hashable {
        var parent: Int32
        var function: FunctionID
    }

    init(_ paths: PathTable, _ frames: FrameTable) {
        let isImport = frames.functions.map(\.isImport)
        guard isImport.contains(true) else {
            byPath = [Int32](repeating: PathTable.none, count: paths.paths.count)
            return
        }
        var places: [Key: Int32] = [:]
        byPath.reserveCapacity(paths.paths.count)
        for path in paths.paths {
            // Callers precede callees.
            let parent = path.parent == PathTable.none ? PathTable.none : byPath[Int(path.parent)]
            guard isImport[Int(path.function.rawValue)] else {
                byPath.append(parent)
                continue
            }
            let next = Int32(truncatingIfNeeded: nodes.count)
            let key = Key(parent: parent, function: path.function)
            let place = places[key] ?? next
            if place == next {
                places[key] = next
                nodes.append(Node(parent: parent, function: path.function))
            }
            byPath.append(place)
        }
    }
}

extension Profile {
    /// What stands for the import that a line is in; nil: it is in none.
    func importNode(ofLine line: Int32, _ table: ImportTable) -> Int? {
        let node = table.byPath[Int(paths.path(ofLine: line))]
        return node == PathTable.none ? nil : Int(node)
    }
}
