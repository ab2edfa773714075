package import ProfileModel

/// The imported modules, each below the import that caused it.
package struct ImportTree: Sendable {
    /// A tree of imports only. A module's own time leaves out its nested imports. Time outside of
    /// imports is in no node.
    package let tree: CallTree
    /// For each node, the time in which it or its nested imports waited for files and for pages of
    /// them, as far as waits were recorded.
    package let reading: [TimeSpan]
}

extension Profile {
    package func imports(_ selection: Selection = .all, weight: Weight) -> ImportTree {
        let steps = ImportSteps(paths, frames)
        let times = importTimes(selection, steps)
        let drafts = zip(steps.steps, zip(times.own, times.own.summed(up: steps))).map {
            step, times in
            CallTree.Draft(parent: step.parent, frame: step.frame, own: times.0, total: times.1)
        }
        let tree = CallTree(
            drafts.weighing(weight), weight: weight, total: self.times(in: selection),
            frames: frames)
        let reading = times.reading.map { StateTimes(blocked: $0) }.summed(up: steps)
        return ImportTree(
            tree: tree,
            reading: tree.nodes(of: steps).map { $0.map { reading[$0].blocked } ?? .zero })
    }

    /// For each step, without nested imports: its times, and the time that it waited for files.
    private func importTimes(
        _ selection: Selection, _ steps: ImportSteps
    ) -> (own: [StateTimes], reading: [TimeSpan]) {
        var own = [StateTimes](repeating: .zero, count: steps.steps.count)
        var reading = [TimeSpan](repeating: .zero, count: own.count)
        guard !steps.isEmpty else { return (own, reading) }
        var homes = [Int32](repeating: ImportSteps.none, count: parts.count)
        for search in importSearches(steps) {
            for (part, step) in search.homes { homes[Int(part)] = step }
        }
        let isReading = frames.functions.map(\.isFileWait)
        forEachPiece(in: selection) { piece, position in
            guard homes[position] != ImportSteps.none else { return }
            let step = Int(homes[position])
            own[step] = own[step] + piece.times
            guard piece.waitLine != PathTable.none else { return }
            let wait = paths.paths[Int(paths.path(ofLine: piece.waitLine))].function
            if isReading[Int(wait.rawValue)] { reading[step] = reading[step] + piece.times.blocked }
        }
        return (own, reading)
    }
}

extension [StateTimes] {
    /// For each step, with its nested imports.
    fileprivate func summed(up steps: ImportSteps) -> Self {
        var result = self
        // Steps come after those that they are nested in.
        for (index, step) in steps.steps.enumerated().reversed() where step.parent >= 0 {
            result[Int(step.parent)] = result[Int(step.parent)] + result[index]
        }
        return result
    }
}

extension Function {
    /// Whether it represents a wait for a file, or for a page of one.
    fileprivate var isFileWait: Bool {
        guard module == Self.kernelModule else { return false }
        return [WaitReason.Kind.file, .disk].contains {
            name == "[\($0.rawValue)]" || name.hasPrefix("[\($0.rawValue): ")
        }
    }
}

extension [CallTree.Draft] {
    /// The drafts with some of the weight.
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
        var parent: Int32
        var function: FunctionID
    }

    /// For each node the step that it represents.
    fileprivate func nodes(of steps: ImportSteps) -> [Int?] {
        var known: [Key: Int] = [:]
        for (index, step) in steps.steps.enumerated() {
            known[Key(parent: step.parent, function: frames[step.frame].function)] = index
        }
        var result = [Int?](repeating: nil, count: nodes.count)
        func find(_ range: Range<Int>, below parent: Int32) {
            for node in range {
                result[node] =
                    known[
                        Key(parent: parent, function: frame(of: nodes[node]).function)]
            }
        }
        find(roots, below: ImportSteps.none)
        // Children come after their parents.
        for node in nodes.indices {
            if let step = result[node] { find(nodes[node].children, below: Int32(step)) }
        }
        return result
    }
}
