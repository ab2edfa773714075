/// Which module's data a place in the program's memory is likely to belong to.
package struct DataPlaces: Sendable {
    /// In the order of their starts.
    private let mappings: [Mapping]

    package init(_ recording: Recording) {
        mappings = recording.mappings.sorted { ($0.start, $0.time) < ($1.start, $1.time) }
    }

    /// A module's data follow its code, so it is the one whose code begins last before the place.
    /// Whether anything of the module's lies there, its symbols have to say.
    package func address(of place: UInt64) -> FrameAddress? {
        var (low, high) = (0, mappings.count)
        while low < high {
            let middle = (low + high) / 2
            if mappings[middle].start > place { high = middle } else { low = middle + 1 }
        }
        guard low > 0 else { return nil }
        let mapping = mappings[low - 1]
        return FrameAddress(
            module: mapping.module, address: CodeAddress(place &- mapping.bias, .instruction))
    }
}
