package import ProfileModel

/// The known facts about a module, and how often it occurs in stacks.
package struct ModuleFigures: Hashable, Sendable {
    package var path: String
    /// Empty when the file has none.
    package var buildID: [UInt8]
    /// When it was first seen mapped, since the launch's start; nil if it never was.
    package var loaded: TimeSpan?
    /// The sources that symbolication had; nil: the module was not symbolicated.
    package var symbols: ModuleSymbols?
    package var isOwn: Bool
    /// Slices in whose stack it occurs.
    package var slices: Int
    package var addresses = AddressCounts()

    package var hasDebugInfo: Bool { symbols?.hasDebugInfo ?? false }
    package var hasSymbols: Bool { symbols?.hasSymbols ?? false }

    /// For how many of a module's addresses a name or a line is known. Each address in stacks
    /// counts once, however often it occurs.
    package struct AddressCounts: Hashable, Sendable {
        package var all = 0
        /// Addresses for which a function's name was found.
        package var named = 0
        /// Addresses for which a line of the source was found.
        package var withLine = 0

        package init() {}
    }

    static func all(
        of recording: Recording, since start: MonotonicTime, slices: [Int],
        addresses: [AddressCounts]
    ) -> [ModuleFigures] {
        var loaded: [ModuleIndex: MonotonicTime] = [:]
        for mapping in recording.mappings {
            let time = mapping.time.clamped
            loaded[mapping.module] = min(loaded[mapping.module] ?? time, time)
        }
        return recording.modules.enumerated().map { index, module in
            ModuleFigures(
                path: module.path, buildID: module.buildID,
                loaded: loaded[ModuleIndex(index)].map { $0 - start },
                symbols: recording.symbols.modules[ModuleIndex(index)], isOwn: module.isOwn,
                slices: index < slices.count ? slices[index] : 0,
                addresses: index < addresses.count ? addresses[index] : AddressCounts())
        }
    }
}

/// The cost of a module's functions together.
package struct ModuleTimes: Hashable, Sendable {
    /// While its code was innermost; waiting is charged to the function that waited.
    package var own = StateTimes.zero
    /// While it was anywhere in the stack.
    package var total = StateTimes.zero
}

extension Profile {
    /// What each module cost, in the order of ``modules``.
    package func moduleTimes(_ selection: Selection = .all) -> [ModuleTimes] {
        // By CPU, so that no frames are invented for waits.
        let totals = PathTotals(of: self, in: selection, weight: .cpu)
        // One key more, for functions without a module.
        func key(_ path: PathTable.Path) -> Int {
            frames[path.function].moduleIndex?.rawValue ?? modules.count
        }
        let isOutermost = paths.outermostOccurrences(count: modules.count + 1, key: key)
        var result = [ModuleTimes](repeating: ModuleTimes(), count: modules.count + 1)
        for (index, path) in paths.paths.enumerated() {
            let module = key(path)
            result[module].own = result[module].own + totals.own[index]
            if isOutermost[index] {
                result[module].total = result[module].total + totals.total[index]
            }
        }
        result.removeLast()
        return result
    }
}
