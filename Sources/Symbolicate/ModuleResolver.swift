package import ProfileModel

/// One open module: answers what its addresses mean.
///
/// Opening reads headers only. Symbols are sorted at the first question; a unit of DWARF is
/// walked when the first address in it is asked about.
package final class ModuleResolver {
    package let summary: ModuleSymbols
    /// Why the module's own file is not used; nil when it is, or when no file was expected.
    package let problem: ElfFileError?
    /// The module's own file, then its separate debug file; none, one or both.
    private let files: [ElfFile]
    /// The one of them that has DWARF, with its path.
    private let debug: DebugFile?
    private let search: DebugFileSearch
    private let names = NameCache()
    private lazy var dwarf = openDwarf()
    private lazy var symbols = makeSymbols()
    private lazy var stubs = files.first.map(PLTStubs.init)

    /// - Parameter module: its build id, when it has one, must be that of the file; another
    ///   file's symbols would be wrong.
    package init(_ module: Module, search: DebugFileSearch = DebugFileSearch()) {
        let own: ElfFile?
        (own, problem) = Self.openOwn(module)
        let complete = own.flatMap { $0.hasDebugInfo ? $0 : nil }
        let separate = complete == nil ? Self.findDebug(module, own, search) : nil
        files = [own, separate?.file].compactMap { $0 }
        let debug = complete.map { DebugFile(path: module.path, file: $0) } ?? separate
        self.debug = debug.flatMap { $0.file.hasDebugInfo ? $0 : nil }
        self.search = search
        summary = ModuleSymbols(
            debugInfoPath: self.debug?.path,
            hasSymbols: files.contains { !$0.symbolTables.isEmpty })
    }

    /// What is at an address of the module's own (ELF) address space.
    /// - Returns: outermost first, the physical function and what was inlined into it; never
    ///   empty. A function that nothing covers is nil, never a neighbour's name.
    package func frames(at address: UInt64) -> [SourceFrame] {
        if let stub = stubs?.target(of: address) {
            let name = names.readable(stub) + "@plt"
            return [SourceFrame(function: name, file: nil, line: nil, isInlined: false)]
        }
        let found = dwarf?.frames(at: address) ?? []
        guard let physical = found.first else {
            let name = symbols.match(address).map { names.readable($0.name) }
            return [SourceFrame(function: name, file: nil, line: nil, isInlined: false)]
        }
        var frames = found.map { frame in
            SourceFrame(
                function: frame.function, file: frame.file, line: frame.line,
                isInlined: frame.isInlined, isUnoptimized: frame.isUnoptimized)
        }
        frames[0].function = physicalFunction(at: address, physical)
        return frames
    }

    /// The names of the data at addresses of the module's own (ELF) address space, as far as there
    /// are symbols for them.
    package func dataNames(at addresses: [UInt64]) -> [UInt64: String] {
        DataSymbols(tables: files.flatMap(\.symbolTables)).names(at: addresses)
            .mapValues { names.readable($0) }
    }

    /// The symbol's name goes before DWARF's: it has the parameters (C++), it tells a `.cold`
    /// part from its function, and it is the same with and without debug information.
    private func physicalFunction(at address: UInt64, _ frame: DwarfFrame) -> String? {
        guard let match = symbols.match(address, known: frame.symbol) else {
            return frame.function
        }
        if let name = frame.function, !match.isCertain { return name }
        return names.readable(match.name)
    }

    /// Unpacks compressed sections, so only when the module is asked about.
    private func openDwarf() -> DwarfFile? {
        debug.flatMap { debug in
            DwarfFile(debug.file, code: Self.code(of: files).hull, names: names) {
                search.findAlternate($0, buildID: $1, of: debug.path)
            }
        }
    }

    private func makeSymbols() -> SymbolIndex {
        SymbolIndex(
            tables: files.flatMap(\.symbolTables), code: Self.code(of: files),
            functionStarts: { [files] in files.first?.functionStarts ?? [] })
    }

    // MARK: - Opening

    /// Mappings of no file (`[heap]`, `//anon`) have no symbols, and that is no problem.
    private static func openOwn(_ module: Module) -> (ElfFile?, ElfFileError?) {
        do throws(ElfFileError) {
            if module.path == "[vdso]" {
                return (try OwnVDSO.open(expecting: module.buildID), nil)
            }
            guard module.path.hasPrefix("/"), !module.path.hasPrefix("//") else {
                return (nil, nil)
            }
            let file = try ElfFile(path: module.path)
            let isOther = !module.buildID.isEmpty && file.buildID != module.buildID
            return isOther ? (nil, .otherBuildID) : (file, nil)
        } catch {
            return (nil, error)
        }
    }

    /// A recorded build id finds the debug file of a module that has been replaced since, too.
    private static func findDebug(
        _ module: Module, _ own: ElfFile?, _ search: DebugFileSearch
    ) -> DebugFile? {
        let buildID = module.buildID.isEmpty ? own?.buildID ?? [] : module.buildID
        return search.find(for: module.path, buildID: buildID, link: own?.debugLink)
    }

    /// A debug file has the headers of the code's sections, too.
    private static func code(of files: [ElfFile]) -> CodeSections {
        CodeSections(files.first { $0.sections.contains(where: \.isCode) }?.sections ?? [])
    }
}
