/// Which module's data a place in a process's memory is likely to belong to.
package struct DataPlaces: Sendable {
    /// Each process's in the order of their starts.
    private let mappings: [ChildIndex?: [Mapping]]

    package init(_ recording: Recording) {
        mappings = Dictionary(grouping: recording.mappings, by: \.child)
            .mapValues { list in list.sorted { ($0.start, $0.time) < ($1.start, $1.time) } }
    }

    /// A module's data follow its code, so it is the one whose code begins last before the place.
    /// Whether anything of the module's lies there, its symbols have to say.
    ///
    /// - Parameter child: whose memory; nil: the recorded process's.
    package func address(of place: UInt64, in child: ChildIndex?) -> FrameAddress? {
        let mappings = mappings[child] ?? []
        let next = mappings.partitionIndex { $0.start > place }
        guard next > 0 else { return nil }
        let mapping = mappings[next - 1]
        return FrameAddress(
            module: mapping.module, address: CodeAddress(place &- mapping.bias, .instruction))
    }
}
