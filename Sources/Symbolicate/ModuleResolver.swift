package import ELF
internal import GoTables
package import ProfileModel

/// One open module: answers what its addresses mean.
///
/// Opening reads headers only. Symbols are sorted at the first question; a unit of DWARF is
/// walked when the first address in it is asked about.
package final class ModuleResolver {
    package let summary: ModuleSymbols
    /// Why the module's own file is not used; nil when it is, or when no file was expected.
    package let problem: ELFFileError?
    /// The module's own file, its separate debug file, its packed symbols; as far as there are.
    private let files: [ELFFile]
    /// The one of them that has DWARF.
    private let debug: DebugFile?
    /// What that one's units have in other files, if it is in a package.
    private let package: DebugPackage?
    private let search: DebugFileSearch
    private let module: Module
    private let cache: SymbolCache?
    private let isCalledOff: @Sendable () -> Bool
    private lazy var alternate = findAlternate()
    private var openedAlternate: ELFFile?
    private let names = NameCache()
    private lazy var direct = openDirect()
    /// Asked where `direct` does not know.
    private lazy var dwarf = openDwarf()
    private lazy var symbols = makeSymbols()
    private lazy var goFunctions = files.first.flatMap(GoFunctionTable.init(in:))
    private lazy var stubs = files.first.map(PLTStubs.init)

    /// - Parameters:
    ///   - module: its build id, when it has one, must be that of the file; another file's symbols
    ///     would be wrong.
    ///   - cache: what earlier symbolication found; nil for none.
    ///   - isCalledOff: whether nobody wants the answers any more: they count for nothing then.
    package init(
        _ module: Module, search: DebugFileSearch = DebugFileSearch(), cache: SymbolCache? = nil,
        isCalledOff: @escaping @Sendable () -> Bool = { false }
    ) {
        let found = ModuleFiles(module, search: search)
        (files, debug, problem, summary) = (found.all, found.debug, found.problem, found.summary)
        package = found.package
        self.search = search
        self.module = module
        self.cache = cache
        self.isCalledOff = isCalledOff
    }

    /// Whether one of its files lost bytes while it was read: then no answer counts.
    package var lostBytes: Bool {
        (files + [openedAlternate, package?.file].compactMap(\.self))
            .contains(where: \.wasCutShort)
    }

    /// What is at an address of the module's own (ELF) address space.
    /// - Returns: outermost first, the physical function and what was inlined into it; never
    ///   empty. A function that nothing covers is nil, never a neighbour's name.
    package func frames(at address: UInt64) -> [SourceFrame] {
        frames(at: [address])[0]
    }

    /// The same for many addresses at once, which takes far less than one after another does.
    /// - Parameter addresses: ascending, each once.
    /// - Returns: as many as there are addresses.
    package func frames(at addresses: [UInt64]) -> [[SourceFrame]] {
        let found = direct?.frames(of: addresses, symbols)
        return addresses.indices.map { index in
            let address = addresses[index]
            if isCalledOff() { return [Self.frame(nil)] }
            if let stub = stub(at: address) { return [stub] }
            guard let frames = found?[index] else { return framesByLibdw(at: address) }
            return frames.isEmpty ? [symbol(at: address)] : frames
        }
    }

    /// The same by libdw, which is asked where nobody else knows, and in tests.
    package func framesByLibdw(at address: UInt64) -> [SourceFrame] {
        if let stub = stub(at: address) { return [stub] }
        let found = dwarf?.frames(at: address) ?? []
        guard let physical = found.first else { return [symbol(at: address)] }
        var frames = found.map { frame in
            SourceFrame(
                function: frame.function, file: frame.file, line: frame.line,
                isInlined: frame.isInlined, isUnoptimized: frame.isUnoptimized,
                linkageName: frame.function.flatMap(names.linkageName))
        }
        let name = symbols.physicalName(at: address, known: physical.symbol, names) {
            physical.function.map { NameCache.Name(readable: $0, linkage: frames[0].linkageName) }
        }
        (frames[0].function, frames[0].linkageName) = (name?.readable, name?.linkage)
        return frames
    }

    private func stub(at address: UInt64) -> SourceFrame? {
        stubs?.target(of: address).map {
            let name = names.name($0)
            return Self.frame(
                NameCache.Name(
                    readable: name.readable + "@plt", linkage: name.linkage.map { $0 + "@plt" }))
        }
    }

    private func symbol(at address: UInt64) -> SourceFrame {
        if let match = symbols.match(address) { return Self.frame(names.name(match.name)) }
        return goFrame(at: address) ?? Self.frame(nil)
    }

    /// By the table that a stripped program of Go's still has. Its names are not mangled.
    private func goFrame(at address: UInt64) -> SourceFrame? {
        guard let table = goFunctions, let function = table.function(at: address),
            let name = table.name(of: function)
        else { return nil }
        let source = table.source(of: function, at: address)
        return SourceFrame(
            function: name, file: source?.file, line: source.flatMap { Int32(exactly: $0.line) },
            isInlined: false)
    }

    private static func frame(_ name: NameCache.Name?) -> SourceFrame {
        SourceFrame(
            function: name?.readable, file: nil, line: nil, isInlined: false,
            linkageName: name?.linkage)
    }

    /// The names of the data at addresses of the module's own (ELF) address space, as far as there
    /// are symbols for them.
    package func dataNames(at addresses: [UInt64]) -> [UInt64: String] {
        DataSymbols(tables: files.flatMap(\.symbolTables)).names(at: addresses)
            .mapValues { names.readable($0) }
    }

    /// Unpacks compressed sections, so only when the module is asked about.
    private func openDwarf() -> DwarfFile? {
        debug.flatMap { debug in
            DwarfFile(debug.file, code: Self.code(of: files).hull, names: names) { _, _ in
                alternate
            }
        }
    }

    private func openDirect() -> DirectDwarf? {
        guard let debug else { return nil }
        let common = alternate.flatMap { DwarfImage($0, alternate: nil) }
        let sections = cacheKey.flatMap { cache?.sections(for: $0) }
        let image = DwarfImage(debug.file, alternate: common, known: sections)
        let split = SplitUnits(package, search: SplitFileSearch(debug, search), known: sections)
        let places = cacheKey.flatMap { cache?.places(for: $0) }
        return image.map {
            DirectDwarf(
                $0, split, code: Self.code(of: files).hull, known: places,
                isCalledOff: isCalledOff)
        }
    }

    /// The file that `dwz` made of what several have in common.
    private func findAlternate() -> ELFFile? {
        openedAlternate = debug.flatMap { debug in
            debug.file.alternateLink.flatMap {
                search.findAlternate($0.name, buildID: $0.buildID, of: debug.path)
            }
        }
        return openedAlternate
    }

    private func makeSymbols() -> SymbolIndex {
        SymbolIndex(
            tables: files.flatMap(\.symbolTables), code: Self.code(of: files),
            functionStarts: { [files] in files.first?.functionStarts ?? [] })
    }

    // MARK: - Cache

    /// What answers of this module are kept by; nil where it has no build id, or no debug
    /// information: then it is done sooner than a file is read.
    private(set) lazy var cacheKey = makeCacheKey()

    private func makeCacheKey() -> SymbolCache.Key? {
        guard cache != nil, let debug else { return nil }
        let buildID = module.buildID.isEmpty ? files.first?.buildID ?? [] : module.buildID
        guard !buildID.isEmpty else { return nil }
        let parts: [(String, ELFFile?)] = [
            (module.path, files.first), (debug.path, debug.file), ("", alternate),
            (package?.path ?? "", package?.file),
        ]
        let texts = parts.map { path, file in
            return "\(path.utf8.count) \(path) \(file?.identity ?? "none")"
        }
        return SymbolCache.Key(
            buildID: buildID, identity: Array(texts.joined(separator: "\n").utf8))
    }

    /// Whether the answers so far are all that the files may ever tell: no unit's `.dwo` file was
    /// missing, which may appear.
    var hasAll: Bool { direct?.hasAll ?? true }

    /// What was found out about the debug information.
    var learned: DirectDwarf? { direct }

    /// A debug file has the headers of the code's sections, too.
    private static func code(of files: [ELFFile]) -> CodeSections {
        CodeSections(files.first { $0.sections.contains(where: \.isCode) }?.sections ?? [])
    }
}
