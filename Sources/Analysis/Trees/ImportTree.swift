import ProfileModel

extension Profile {
    /// What was imported, and by the import of what: a call tree of nothing else. A module's own time is
    /// that without the imports that it brought; what was not spent in imports is in no node.
    package func imports(_ selection: Selection = .all, weight: Weight) -> CallTree {
        let totals = PathTotals(of: self, in: selection, weight: weight)
        var builder = ImportTreeBuilder()
        let isImport = frames.functions.map(\.isImport)
        for (index, path) in paths.paths.enumerated() {
            builder.add(
                path, isImport: isImport[Int(path.function.rawValue)], totals.hottest[index],
                own: totals.own[index], total: totals.total[index])
        }
        return CallTree(
            builder.drafts(weight), weight: weight, total: times(in: selection), frames: frames)
    }
}

/// Callers come before what they call.
private struct ImportTreeBuilder {
    private struct Key: Hashable {
        var parent: Int32
        var function: FunctionID
    }

    /// The innermost import that each path is in.
    private var imports: [Int32] = []
    private var places: [Key: Int32] = [:]
    private var all: [CallTree.Draft] = []

    mutating func add(
        _ path: PathTable.Path, isImport: Bool, _ frame: FrameID, own: StateTimes,
        total: StateTimes
    ) {
        var node = path.parent == PathTable.none ? PathTable.none : imports[Int(path.parent)]
        if isImport {
            node = place(of: Key(parent: node, function: path.function), frame)
            all[Int(node)].total = all[Int(node)].total + total
        }
        imports.append(node)
        if node != PathTable.none { all[Int(node)].own = all[Int(node)].own + own }
    }

    private mutating func place(of key: Key, _ frame: FrameID) -> Int32 {
        if let known = places[key] { return known }
        let place = Int32(truncatingIfNeeded: all.count)
        all.append(CallTree.Draft(parent: key.parent, frame: frame, own: .zero, total: .zero))
        places[key] = place
        return place
    }

    /// Those that have the weight.
    func drafts(_ weight: Weight) -> [CallTree.Draft] {
        var result: [CallTree.Draft] = []
        var places = [Int32](repeating: PathTable.none, count: all.count)
        for (index, var draft) in all.enumerated() where weight.of(draft.total) > .zero {
            if draft.parent != PathTable.none { draft.parent = places[Int(draft.parent)] }
            places[index] = Int32(truncatingIfNeeded: result.count)
            result.append(draft)
        }
        return result
    }
}
