import Analysis
import ProfileModel

/// What of a comparison is worth a line: what came, went, or changed by enough.
extension ProfileComparison {
    /// The main thread's.
    var changedWaits: [ComparedWait] {
        waits.filter { $0.identity.thread == nil && isChange($0.durations, $0.walls) }
    }

    var changedInitializers: [ComparedInitializer] {
        initializers.filter { isChange($0.wall, $0.walls) }
    }

    var changedLibraries: [ComparedLibrary] {
        libraries.filter { !$0.isCommon || isChange($0.wall, $0.walls) }
    }

    var changedProcesses: [ComparedProcess] {
        processes.filter { $0.isOfOtherCount || isChange($0.wall, $0.walls) }
    }

    /// Those whose own time changed.
    func changedFunctions(of phase: ComparedPhase) -> [ComparedFunction] {
        phase.functions.filter { isChange($0.own.map(\.wall), $0.walls) }
    }
}

extension ProfileComparison {
    /// How many processes of a name a launch started: "3", or of several launches "2.7".
    func countsPerLaunch(of process: ComparedProcess) -> Compared<String> {
        Compared { side in
            let (count, launches) = (process.counts[side], launches[side].count)
            guard !count.isMultiple(of: launches) else {
                return Numbers.grouped(count / launches)
            }
            let tenths = (count * 10 + launches / 2) / launches
            return "\(Numbers.grouped(tenths / 10)).\(tenths % 10)"
        }
    }

    /// Where in the source: as of the later launch where it is there. Empty: not known.
    func place(of frames: Compared<SeenFrame?>) -> String {
        let side: Side = frames.after == nil ? .before : .after
        return frames[side].map { launches.frame($0, side).place } ?? ""
    }

    /// The next function of the developer's own outward.
    func ownCaller(of node: Int, in tree: ComparedTree) -> FunctionID? {
        let function = tree.nodes[node].function
        var current = tree.nodes[node].parent
        while let next = current {
            let caller = tree.nodes[next].function
            if caller != function, functions[caller].isOwn { return caller }
            current = tree.nodes[next].parent
        }
        return nil
    }
}

extension ComparedPhase {
    /// The place of a function as it is in the bottom-up tree.
    func frames(of function: FunctionID) -> Compared<SeenFrame?> {
        bottomUp.roots.first { bottomUp.nodes[$0].function == function }
            .map { bottomUp.nodes[$0].frames } ?? Compared(before: nil, after: nil)
    }
}
