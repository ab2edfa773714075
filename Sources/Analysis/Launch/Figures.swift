package import ProfileModel

/// What a thread did during the launch.
package struct ThreadFigures: Hashable, Sendable {
    package var tid: Int32
    package var name: String
    package var isMain: Bool
    /// Since the launch's start, and within the launch.
    package var start: TimeSpan
    package var end: TimeSpan
    /// Of the whole launch.
    package var times: StateTimes
    /// In the order of time: what it was at first, and every change; empty: not known.
    package var priorities: [PriorityFigures] = []
}

/// What is known of a module, and how often it was met.
package struct ModuleFigures: Hashable, Sendable {
    package var path: String
    /// Empty when the file has none.
    package var buildID: [UInt8]
    /// When it was first seen mapped, since the launch's start; nil if that was not seen.
    package var loaded: TimeSpan?
    package var hasDebugInfo: Bool
    package var hasSymbols: Bool
    package var isOwn: Bool
    /// Slices in whose stack it occurs.
    package var slices: Int

    static func all(
        of recording: Recording, since start: MonotonicTime, slices: [Int]
    ) -> [ModuleFigures] {
        var loaded: [ModuleIndex: MonotonicTime] = [:]
        for mapping in recording.mappings {
            let time = mapping.time.clamped
            loaded[mapping.module] = min(loaded[mapping.module] ?? time, time)
        }
        return recording.modules.enumerated().map { index, module in
            let symbols = recording.symbols.modules[ModuleIndex(index)]
            return ModuleFigures(
                path: module.path, buildID: module.buildID,
                loaded: loaded[ModuleIndex(index)].map { $0 - start },
                hasDebugInfo: symbols?.hasDebugInfo ?? false,
                hasSymbols: symbols?.hasSymbols ?? false, isOwn: module.isOwn,
                slices: index < slices.count ? slices[index] : 0)
        }
    }
}
