package import ProfileModel
package import Runtimes

/// The maps of functions that the just-in-time compilers of a recording's processes have left.
package struct PerfMaps: Sendable {
    /// By the processes' ids.
    private let places: [Int32: PerfMapPlace]
    /// The root directories of the processes with these scripts; see
    /// ``ScriptOrigins/name(_:root:)``.
    private let scriptRoots: [String: String]
    /// What made Node's processes write maps; nil: maps are the user's, and stay.
    private let node: NodeRequest?

    /// - Parameter places: empty: the processes left nothing (an import).
    package init(
        at places: [Int32: PerfMapPlace], scriptRoots: [String: String] = [:], node: NodeRequest?
    ) {
        (self.places, self.scriptRoots, self.node) = (places, scriptRoots, node)
    }

    /// Names the functions of code without a file, and removes the maps that are there because of
    /// us.
    package func name(_ recording: inout Recording) {
        var origins = ScriptOrigins()
        if recording.header.capture == .perf {
            PerfMap(left: recording.header.pid)?.name(&recording, of: nil, &origins)
        }
        guard !places.isEmpty else { return }
        origins.name(&recording) { scriptRoots[$0] }
        // Processes may have the same map: those with the same id one after the other, or in
        // several namespaces. It is the newest one's, which has overwritten it.
        var taken: Set<String> = []
        let children = recording.childrenWithGeneratedCode
        for (position, child) in recording.children.enumerated().reversed() {
            let index = ChildIndex(position)
            // A map that is there because of us goes even if none of its code was seen.
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
