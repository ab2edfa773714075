import Analysis
import Exports
import ProfileModel

/// The parts of a comparison that deserve a line: they are new, gone, or changed by enough.
extension ProfileComparison {
    /// The waits of the main thread that changed.
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

    /// The functions whose own time changed.
    func changedFunctions(of phase: ComparedPhase) -> [ComparedFunction] {
        phase.functions.filter { isChange($0.own.map(\.wall), $0.walls) }
    }
}

extension ProfileComparison {
    /// How many processes with this name a launch started: "3", or, over several launches, "2.7".
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

    /// The place in the source, from the later launch if it has one. Empty: unknown.
    func place(of frames: Compared<SeenFrame?>) -> String {
        let side: Side = frames.after == nil ? .before : .after
        return frames[side].map { launches.frame($0, side).place } ?? ""
    }

    /// The next outer function of the developer's own code.
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
    /// A function's frame on each side, from the bottom-up tree.
    func frames(of function: FunctionID) -> Compared<SeenFrame?> {
        bottomUp.roots.first { bottomUp.nodes[$0].function == function }
            .map { bottomUp.nodes[$0].frames } ?? Compared(before: nil, after: nil)
    }
}
