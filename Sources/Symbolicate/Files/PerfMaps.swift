package import ProfileModel
package import Runtimes

/// The maps of functions that the just-in-time compilers of a recording's processes have left.
package struct PerfMaps: Sendable {
    /// By the processes' ids.
    private let places: [Int32: PerfMapPlace]
    /// The root directories of the processes with these scripts; see
    /// ``ScriptOrigins/name(_:root:)``.
    private let scriptRoots: [String: String]
    /// The request that made Node's processes write maps; nil: the maps belong to the user, and
    /// stay.
    private let node: NodeRequest?

    /// - Parameter places: empty: there are no maps of processes (an import).
    package init(
        at places: [Int32: PerfMapPlace], scriptRoots: [String: String] = [:], node: NodeRequest?
    ) {
        (self.places, self.scriptRoots, self.node) = (places, scriptRoots, node)
    }

    /// Names the functions of code without a file, and removes the maps that were written at our
    /// request.
    package func name(_ recording: inout Recording) {
        var origins = ScriptOrigins()
        if recording.header.capture == .perf {
            PerfMap(left: recording.header.pid)?.name(&recording, of: nil, &origins)
        }
        guard !places.isEmpty else { return }
        origins.name(&recording) { scriptRoots[$0] }
        // Processes may have the same map: processes with the same id one after the other, or in
        // several namespaces. The map belongs to the newest process, which has overwritten it.
        var taken: Set<String> = []
        let children = recording.childrenWithGeneratedCode
        for (position, child) in recording.children.enumerated().reversed() {
            let index = ChildIndex(position)
            // A map that was written at our request is removed even if none of its code was
            // sampled.
            guard node != nil || children.contains(index) else { continue }
            name(child.pid, child.images, index, &recording, &origins, &taken)
        }
        name(recording.header.pid, recording.images, nil, &recording, &origins, &taken)
    }

    /// - Parameters:
    ///   - images: the programs that the process ran.
    ///   - taken: the maps of newer processes.
    private func name(
        _ pid: Int32, _ images: [Image], _ child: ChildIndex?, _ recording: inout Recording,
        _ origins: inout ScriptOrigins, _ taken: inout Set<String>
    ) {
        guard let place = places[pid], taken.insert(place.path).inserted,
            let map = PerfMap(at: place)
        else { return }
        map.name(&recording, of: child, &origins, below: place.root)
        // Its names were taken.
        guard let node, map.isOfNode, node.causedMap(ofProcessRunning: images) else { return }
        PerfMap.remove(place, writtenSince: node.start)
    }
}
