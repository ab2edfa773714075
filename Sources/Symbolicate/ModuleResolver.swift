package import ELF
internal import GoTables
package import ProfileModel

/// One open module: tells what its addresses mean.
///
/// Opening reads only headers. Symbols are sorted at the first question. A unit of DWARF is walked
/// at the first question about an address in it.
package final class ModuleResolver {
    package let summary: ModuleSymbols
    /// Why the module's own file is not used; nil if it is, or if no file was expected.
    package let problem: ELFFileError?
    /// The module's own file, its separate debug file, and its packed symbols, as far as they
    /// exist.
    private let files: [ELFFile]
    /// The file among them that has DWARF.
    private let debug: DebugFile?
    /// The other parts of that file's units, if they are in a package.
    private let package: DebugPackage?
    private let search: DebugFileSearch
    private let module: Module
    private let cache: SymbolCache?
    private let isCalledOff: @Sendable () -> Bool
    private lazy var alternate = findAlternate()
    private var openedAlternate: ELFFile?
    private lazy var names = NameCache { [files] in files.flatMap(\.symbolTables) }
    private lazy var direct = openDirect()
    /// Used when `direct` does not know an answer.
    private lazy var dwarf = openDwarf()
    private lazy var symbols = makeSymbols()
    private lazy var goFunctions = files.first.flatMap(GoFunctionTable.init(in:))
    private lazy var stubs = files.first.map(PLTStubs.init)

    /// - Parameters:
    ///   - module: if it has a build id, the file must have the same: another file's symbols would
    ///     be wrong.
    ///   - cache: the results of earlier symbolication; nil: none.
    ///   - isCalledOff: true if the answers are no longer wanted; then they are incomplete and must
    ///     be dropped.
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

    /// True if one of its files lost bytes while it was read: then no answer counts.
    package var lostBytes: Bool {
        (files + [openedAlternate, package?.file].compactMap(\.self))
            .contains(where: \.wasCutShort)
    }

    /// The frames at an address in the module's own (ELF) address space.
    /// - Returns: outermost first: the physical function, and the functions inlined into it; never
    ///   empty. If no function covers the address, the function is nil, never a neighbour's name.
    package func frames(at address: UInt64) -> [SourceFrame] {
        frames(at: [address])[0]
    }

    /// The same for many addresses at once; far faster than one at a time.
    /// - Parameter addresses: ascending, each once.
    /// - Returns: one answer for each address.
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

    /// The same by libdw, used when no other source knows the answer, and in tests.
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

    /// From the function table that even a stripped Go program has. Its names are not mangled.
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

    /// The names of data at addresses in the module's own (ELF) address space, if there are
    /// symbols.
    package func dataNames(at addresses: [UInt64]) -> [UInt64: String] {
        DataSymbols(tables: files.flatMap(\.symbolTables)).names(at: addresses)
            .mapValues { names.readable($0) }
    }

    /// Unpacks compressed sections, so it is called only at the first question.
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

    /// The common file that `dwz` made from parts of several files.
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

    /// The key for this module's answers in the cache. nil if the module has no build id, or no
    /// debug information: then looking up is faster than reading a file.
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

    /// True if the answers are complete: no unit's `.dwo` file, which may still appear, was
    /// missing.
    var hasAll: Bool { direct?.hasAll ?? true }

    /// The reader with the places that it found in the debug information.
    var learned: DirectDwarf? { direct }

    /// A debug file has the headers of code sections, too.
    private static func code(of files: [ELFFile]) -> CodeSections {
        CodeSections(files.first { $0.sections.contains(where: \.isCode) }?.sections ?? [])
    }
}
