package import ProfileModel

/// What was imported, and by the import of what.
package struct ImportTree: Sendable {
    /// Of imports only. A module's own time is that without the imports that it brought; what was not
    /// spent in imports is in no node.
    package let tree: CallTree
    /// For how long each node waited for files and for pages of them, with what it brought: as far as
    /// waits were recorded.
    package let reading: [TimeSpan]
}

extension Profile {
    package func imports(_ selection: Selection = .all, weight: Weight) -> ImportTree {
        let totals = PathTotals(of: self, in: selection, weight: weight)
        let table = ImportTable(paths, frames)
        var drafts: [CallTree.Draft?] = table.nodes.map { _ in nil }
        for (index, path) in paths.paths.enumerated() where table.byPath[index] != PathTable.none {
            let node = Int(table.byPath[index])
            var draft =
                drafts[node]
                ?? CallTree.Draft(
                    parent: table.nodes[node].parent, frame: totals.hottest[index], own: .zero,
                    total: .zero)
            draft.own = draft.own + totals.own[index]
            if frames[path.function].isImport { draft.total = draft.total + totals.total[index] }
            drafts[node] = draft
        }
        let tree = CallTree(
            drafts.compactMap { $0 }.weighing(weight), weight: weight,
            total: times(in: selection), frames: frames)
        return ImportTree(
            tree: tree, reading: tree.sums(of: readingTimes(selection, table), table))
    }

    /// Of each import, without what it brought, how long it waited for files.
    private func readingTimes(_ selection: Selection, _ table: ImportTable) -> [TimeSpan] {
        let totals = PathTotals(of: self, in: selection, weight: .blocked)
        let isReading = frames.functions.map(\.isFileWait)
        var result = [TimeSpan](repeating: .zero, count: table.nodes.count)
        for (index, path) in paths.paths.enumerated()
        where table.byPath[index] != PathTable.none && isReading[Int(path.function.rawValue)] {
            let node = Int(table.byPath[index])
            result[node] = result[node] + totals.own[index].blocked
        }
        return result
    }
}

extension Function {
    /// Whether it stands for a wait for a file, or for a page of one.
    fileprivate var isFileWait: Bool {
        guard module == Self.kernelModule else { return false }
        return [WaitReason.Kind.file, .disk].contains {
            name == "[\($0.rawValue)]" || name.hasPrefix("[\($0.rawValue): ")
        }
    }
}

extension [CallTree.Draft] {
    /// Those that have the weight.
    fileprivate func weighing(_ weight: Weight) -> Self {
        var result: Self = []
        var places = [Int32](repeating: PathTable.none, count: count)
        for (index, var draft) in enumerated() where weight.of(draft.total) > .zero {
            if draft.parent != PathTable.none { draft.parent = places[Int(draft.parent)] }
            places[index] = Int32(truncatingIfNeeded: result.count)
            result.append(draft)
        }
        return result
    }
}

extension CallTree {
    private struct Key: Hashable {
        var parent: Int
        var function: FunctionID
    }

    /// What the nodes of a table have, added up for each node of the tree with those below it.
    fileprivate func sums(of own: [TimeSpan], _ table: ImportTable) -> [TimeSpan] {
        var result = [TimeSpan](repeating: .zero, count: nodes.count)
        guard own.contains(where: { $0 > .zero }) else { return result }
        var known: [Key: Int] = [:]
        var parents = [Int](repeating: -1, count: nodes.count)
        for node in nodes.indices { for child in nodes[node].children { parents[child] = node } }
        for node in nodes.indices {
            known[Key(parent: parents[node], function: frame(of: nodes[node]).function)] = node
        }
        var places: [Int?] = []
        for (index, node) in table.nodes.enumerated() {
            let parent = node.parent == PathTable.none ? -1 : places[Int(node.parent)]
            let place = parent.flatMap { known[Key(parent: $0, function: node.function)] }
            places.append(place)
            if let place { result[place] = result[place] + own[index] }
        }
        // Children come behind their parents.
        for node in nodes.indices.reversed() where parents[node] >= 0 {
            result[parents[node]] = result[parents[node]] + result[node]
        }
        return result
    }
}
