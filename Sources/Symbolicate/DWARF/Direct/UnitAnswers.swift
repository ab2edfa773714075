internal import ProfileModel

/// The answers of one unit for the wanted addresses in it.
final class UnitAnswers {
    private let unit: UnitReader
    private let entries: EntryReader
    private let names: NameCache
    private let code: Range<UInt64>
    private let symbols: SymbolIndex
    private let search: ScopeSearch
    private let scopeMap: IntervalMap
    /// The containers inside skipped entries, by these entries' offsets.
    private var innerContainers: [Int: Containers] = [:]
    private let makeSearch: (ScopeSearch.Extent) -> ScopeSearch
    private let lines: LineTable?
    /// The places that were found earlier in the unit.
    private let known: UnitPlaces?
    private var sequences: ContiguousArray<SequencePlace> = []
    private let folder: String?
    private let isUnoptimized: Bool
    private var scopes: [Int32: Scope] = [:]
    private var entryNames: [EntryPlace: EntryName] = [:]
    private var qualified: [EntryPlace: String] = [:]
    private var paths: [UInt64: String?] = [:]

    private typealias Position = (file: String?, line: Int32?)

    private struct Scope {
        var entry: EntryName
        /// Only for an inlined function: for others the symbol's name is shown.
        var name: NameCache.Name?
        /// Where it was called, if it is inlined.
        var call: Position
    }

    /// Deeper inlining must be fabricated.
    private static let deepest = 1024

    init(
        _ unit: UnitReader, _ wanted: WantedAddresses, code: Range<UInt64>, entries: EntryReader,
        names: NameCache, symbols: SymbolIndex, known: UnitPlaces?
    ) {
        self.unit = unit
        self.code = code
        self.entries = entries
        self.names = names
        self.symbols = symbols
        self.known = known
        let table = entries.table(of: unit)
        let makeSearch = { ScopeSearch(unit, table, wanted, code: code, $0) }
        var search = makeSearch(known.map { .only($0.functions) } ?? .pruned)
        var map = search.makeScopeMap()
        // If no function covers an address, it may be in a skipped entry.
        if search.hasPassedAnything, !wanted.all.allSatisfy({ map[$0] != nil }) {
            search = makeSearch(.exhaustive)
            map = search.makeScopeMap()
        }
        self.makeSearch = makeSearch
        self.search = search
        scopeMap = map
        // A split unit has neither lines nor a folder.
        let inProgram = unit.skeleton ?? unit
        lines = LineTable(inProgram)
        folder = inProgram.folder.flatMap { $0.hasPrefix("/") ? $0 : nil }
        isUnoptimized = unit.isUnoptimized
    }

    /// The frames at each address, outermost first; one frame without a function if the unit has
    /// only lines. The innermost frame's position comes from the line table. Every other frame's
    /// position is the place of the inlined call inside it.
    func frames(of wanted: WantedAddresses) -> [[SourceFrame]] {
        let positions = lines?.positions(of: wanted, code: code, in: known?.sequences)
        sequences = positions?.sequences ?? []
        return wanted.all.enumerated().map { index, address in
            frames(at: address, positions?.found[index].map(position) ?? (nil, nil))
        }
    }

    /// True if the unit is so large that its places are worth keeping.
    var isLarge: Bool { unit.header.end - unit.header.start >= DebugPlaces.smallestUnit }

    /// The places in the unit, once the frames were computed; nil if they were known already, or
    /// are incomplete.
    var places: UnitPlaces? {
        guard known == nil, search.functions.count < ScopeSearch.mostFunctions,
            sequences.count < LineTable.mostSequences
        else { return nil }
        return UnitPlaces(
            functions: search.functions, sequences: sequences, containers: search.containers)
    }

    private func frames(at address: UInt64, _ innermost: Position) -> [SourceFrame] {
        var position = innermost
        var result: [SourceFrame] = []
        var current = scopeMap[address] ?? -1
        while current >= 0, result.count < Self.deepest, search.scopes[Int(current)].isInlined {
            let scope = scope(current)
            result.append(frame(scope.name, position, isInlined: true))
            position = scope.call
            current = search.scopes[Int(current)].parent
        }
        // No function: the code is assembler, or an inlined call belongs to no function's tree.
        let function = current >= 0 && result.count < Self.deepest ? scope(current).entry : nil
        result.append(frame(physicalName(at: address, function), position, isInlined: false))
        return result.reversed()
    }

    private func frame(
        _ name: NameCache.Name?, _ position: Position, isInlined: Bool
    ) -> SourceFrame {
        SourceFrame(
            function: name?.readable, file: position.file, line: position.line,
            isInlined: isInlined, isUnoptimized: isUnoptimized, linkageName: name?.linkage)
    }

    private func physicalName(at address: UInt64, _ entry: EntryName?) -> NameCache.Name? {
        symbols.physicalName(at: address, known: entry?.symbol, names) { entry.flatMap(label) }
    }

    // MARK: - Positions

    private func position(_ row: LinePosition) -> Position {
        let file = path(row.file)
        let line = row.line > 0 ? Int32(exactly: row.line) : nil
        return (file, file == nil ? nil : line)
    }

    private func callSite(_ entry: EntryAttributes) -> Position {
        guard entry.callFile.isThere, let file = path(entry.callFile.number) else {
            return (nil, nil)
        }
        let line = entry.callLine.isThere ? Int32(exactly: entry.callLine.number) : nil
        return (file, line.flatMap { $0 > 0 ? $0 : nil })
    }

    private func path(_ index: UInt64) -> String? {
        if let known = paths[index] { return known }
        let path = lines?.path(of: index).flatMap(whole)
        paths[index] = .some(path)
        return path
    }

    /// The absolute path; nil if it is no file (`<compiler-generated>`).
    private func whole(_ path: String) -> String? {
        if path.hasSuffix(">"), path.hasPrefix("<") || path.contains("/<") { return nil }
        guard !path.hasPrefix("/"), let folder else { return path }
        return "\(folder)/\(path.hasPrefix("./") ? path.dropFirst(2) : path[...])"
    }

    // MARK: - Names

    private func scope(_ number: Int32) -> Scope {
        if let known = scopes[number] { return known }
        let found = search.scopes[Int(number)]
        let place = EntryPlace(isAlternate: false, offset: found.offset)
        var scope = Scope(entry: EntryName(declaration: place), name: nil, call: (nil, nil))
        if let entry = entries.attributes(at: found.offset, in: unit) {
            scope.entry = name(of: entry, at: place)
            scope.name = found.isInlined ? label(scope.entry) : nil
            scope.call = callSite(entry)
        }
        scopes[number] = scope
        return scope
    }

    /// Instances of the same function share its name.
    private func name(of entry: EntryAttributes, at place: EntryPlace) -> EntryName {
        let isPlain = entry.linkageName == nil && entry.name == nil
        let origin = isPlain ? entries.place(entry.origin, in: unit) : nil
        if let origin, let known = entryNames[origin] { return known }
        let name = entries.name(of: entry, at: place, in: unit)
        if let origin { entryNames[origin] = name }
        return name
    }

    private func label(_ name: EntryName) -> NameCache.Name? {
        if let linkageName = name.linkageName { return names.name(linkageName) }
        if let known = qualified[name.declaration] { return NameCache.Name(readable: known) }
        guard let plain = name.name else { return nil }
        if let decoded = names.decoded(String(decoding: plain, as: UTF8.self)) {
            return NameCache.Name(readable: decoded)
        }
        // Compilers omit the linkage name of functions that other files cannot refer to (C++'s
        // static functions and anonymous namespaces). The place in the tree gives the rest of the
        // name.
        let parts = qualifiers(of: name.declaration) + [String(decoding: plain, as: UTF8.self)]
        let result = Demangler.bounded(parts.joined(separator: "::"))
        qualified[name.declaration] = result
        return NameCache.Name(readable: result)
    }

    /// The names of the namespaces and classes around a declaration, outermost first; empty if it
    /// is in another unit.
    private func qualifiers(of declaration: EntryPlace) -> [String] {
        guard !declaration.isAlternate, !unit.isC else { return [] }
        let offset = declaration.offset
        let containers = known?.containers ?? search.containers
        var chain = containers.chain(at: offset)
        if let entry = containers.passedEntry(at: offset) {
            chain = inner(of: entry).chain(at: offset) + containers.chain(from: entry.container)
        }
        return chain.compactMap { containerName($0.offset) }.reversed()
    }

    private func inner(of entry: PassedEntry) -> Containers {
        let offset = entry.range.lowerBound
        if let found = innerContainers[offset] { return found }
        let found = makeSearch(.within(offset)).containers
        innerContainers[offset] = found
        return found
    }

    private func containerName(_ offset: Int) -> String? {
        guard let entry = entries.attributes(at: offset, in: unit) else { return nil }
        let place = EntryPlace(isAlternate: false, offset: offset)
        if let name = entries.name(of: entry, at: place, in: unit).name {
            return String(decoding: name, as: UTF8.self)
        }
        return search.isNamespace(at: offset) ? "(anonymous namespace)" : nil
    }
}

extension LineTable {
    /// The path of a source file in the table; it may be relative.
    func path(of index: UInt64) -> String? {
        guard let index = Int(exactly: index), index < files.count else { return nil }
        let file = files[index]
        guard !file.name.isEmpty else { return nil }
        let name = String(decoding: file.name, as: UTF8.self)
        guard !name.hasPrefix("/") else { return name }
        guard let folder = folder(file.folder) else { return name }
        if !folder.hasPrefix("/"), file.folder != 0, let first = self.folder(0) {
            return "\(first)/\(folder)/\(name)"
        }
        return "\(folder)/\(name)"
    }

    private func folder(_ index: UInt64) -> String? {
        guard let index = Int(exactly: index), index < folders.count, !folders[index].isEmpty
        else { return nil }
        return String(decoding: folders[index], as: UTF8.self)
    }
}
