package import ProfileModel
package import Runtimes

/// The maps of functions that the just-in-time compilers of a recording's processes have left.
package struct PerfMaps: Sendable {
    /// The root directory of the processes; empty: ours.
    private let root: String
    /// The user who runs them; nil: they left nothing (an import).
    private let owner: UInt32?
    /// What made Node's processes write maps; nil: maps are the user's, and stay.
    private let node: NodeRequest?

    package init(root: String, owner: UInt32?, node: NodeRequest?) {
        (self.root, self.owner, self.node) = (root, owner, node)
    }

    /// Names the functions of code without a file, and removes the maps that are there because of
    /// us.
    package func name(_ recording: inout Recording) {
        var origins = ScriptOrigins(root: root)
        if recording.header.capture == .perf {
            PerfMap(left: recording.header.pid)?.name(&recording, of: nil, &origins)
        }
        guard owner != nil else { return }
        origins.name(&recording)
        name(recording.header.pid, recording.images, nil, &recording, &origins)
        let children = recording.childrenWithGeneratedCode
        for (position, child) in recording.children.enumerated() {
            let index = ChildIndex(position)
            // A map that is there because of us goes even if none of its code was seen.
            guard node != nil || children.contains(index) else { continue }
            name(child.pid, child.images, index, &recording, &origins)
        }
    }

    /// - Parameter images: the programs that the process ran.
    private func name(
        _ pid: Int32, _ images: [Image], _ child: ChildIndex?, _ recording: inout Recording,
        _ origins: inout ScriptOrigins
    ) {
        // The place of the process's own `/tmp`.
        let path = "\(root)/tmp/perf-\(pid).map"
        guard let owner, let map = PerfMap(path: path, owner: owner) else { return }
        map.name(&recording, of: child, &origins)
        // Its names were taken.
        guard let node, map.isOfNode, node.causedMap(ofProcessRunning: images) else { return }
        PerfMap.remove(path, owner: owner, writtenSince: node.start)
    }
}
