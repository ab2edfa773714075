package import ProfileModel

/// Gives a recording's addresses their meaning: functions, inlined ones too, files and lines.
package struct Symbolicator: Sendable {
    private let search: DebugFileSearch

    package init(search: DebugFileSearch = DebugFileSearch()) {
        self.search = search
    }

    /// The recording's symbols with all of its stacks' addresses in it. What is there already is
    /// kept: it may have been found on the machine that made the recording.
    ///
    /// Modules are opened one after another, each closed before the next: a launch may load
    /// hundreds.
    package func symbolicate(_ recording: Recording) -> SymbolTable {
        var table = recording.symbols
        let wanted = Self.unresolved(of: recording)
        let places = Self.unresolvedPlaces(of: recording)
        for (position, module) in recording.modules.enumerated() {
            let index = ModuleIndex(position)
            let addresses = wanted[index] ?? []
            let data = places[index] ?? []
            if addresses.isEmpty, data.isEmpty, table.modules[index] != nil { continue }
            let resolver = ModuleResolver(module, search: search)
            if table.modules[index] == nil { table.modules[index] = resolver.summary }
            Self.resolve(addresses, with: resolver, into: &table)
            Self.name(data, with: resolver, into: &table)
        }
        for address in wanted[nil] ?? [] { table.frames[address] = [Self.unknown] }
        return table
    }

    /// The addresses that have no meaning yet, by module; under nil those of no known module.
    private static func unresolved(of recording: Recording) -> [ModuleIndex?: [FrameAddress]] {
        var seen: Set<FrameAddress> = []
        var result: [ModuleIndex?: [FrameAddress]] = [:]
        for node in recording.stacks.nodes where recording.symbols.frames[node.frame] == nil {
            guard seen.insert(node.frame).inserted else { continue }
            let module = node.frame.module
            let isKnown = module.map { recording.modules.indices.contains($0.rawValue) } ?? false
            result[isKnown ? module : nil, default: []].append(node.frame)
        }
        return result
    }

    /// Where in modules' data threads waited, without what has a name yet.
    private static func unresolvedPlaces(
        of recording: Recording
    ) -> [ModuleIndex: [FrameAddress]] {
        var result: [ModuleIndex: [FrameAddress]] = [:]
        let data = DataPlaces(recording)
        for place in Set(recording.waits.compactMap(\.reason.place)).sorted() {
            guard let address = data.address(of: place), let module = address.module,
                recording.modules.indices.contains(module.rawValue),
                recording.symbols.frames[address] == nil
            else { continue }
            result[module, default: []].append(address)
        }
        return result
    }

    private static func name(
        _ places: [FrameAddress], with resolver: ModuleResolver, into table: inout SymbolTable
    ) {
        guard !places.isEmpty else { return }
        let names = resolver.dataNames(at: places.map(\.address.lookup))
        for place in places {
            guard let name = names[place.address.lookup] else { continue }
            table.frames[place] = [
                SourceFrame(function: name, file: nil, line: nil, isInlined: false)
            ]
        }
    }

    /// In the order of addresses, so that what lies together in the file is read together. This
    /// is where return addresses are looked up one byte before; see ``CodeAddress/lookup``.
    private static func resolve(
        _ addresses: [FrameAddress], with resolver: ModuleResolver, into table: inout SymbolTable
    ) {
        let sorted = addresses.sorted { $0.address.lookup < $1.address.lookup }
        var last: (lookup: UInt64, frames: [SourceFrame])?
        for address in sorted {
            let lookup = address.address.lookup
            let frames =
                last.flatMap { $0.lookup == lookup ? $0.frames : nil }
                ?? resolver.frames(at: lookup)
            table.frames[address] = frames
            last = (lookup, frames)
        }
    }

    private static let unknown = SourceFrame(
        function: nil, file: nil, line: nil, isInlined: false)
}
