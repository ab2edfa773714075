/// Finds the module whose data probably contain a place in a process's memory.
package struct DataPlaces: Sendable {
    /// Each process's mappings, in the order of their starts.
    private let mappings: [ChildIndex?: [Mapping]]

    package init(_ recording: Recording) {
        mappings = Dictionary(grouping: recording.mappings, by: \.child)
            .mapValues { list in list.sorted { ($0.start, $0.time) < ($1.start, $1.time) } }
    }

    /// A module's data follow its code, so this is the module whose code begins last before the
    /// place. Only its symbols can tell whether it has data there.
    ///
    /// - Parameter child: the child whose memory it is; nil: the recorded process.
    package func address(of place: UInt64, in child: ChildIndex?) -> FrameAddress? {
        let mappings = mappings[child] ?? []
        let next = mappings.partitionIndex { $0.start > place }
        guard next > 0 else { return nil }
        let mapping = mappings[next - 1]
        return FrameAddress(
            module: mapping.module, address: CodeAddress(place &- mapping.bias, .instruction))
    }
}
