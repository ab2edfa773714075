package import ProfileModel

/// One open module: answers what its addresses mean.
///
/// Opening reads headers only. Symbols are sorted at the first question; a unit of DWARF is
/// walked when the first address in it is asked about.
package final class ModuleResolver {
    package let summary: ModuleSymbols
    /// Why the module's own file is not used; nil when it is, or when no file was expected.
    package let problem: ElfFileError?
    /// The module's own file, its separate debug file, its packed symbols; as far as there are.
    private let files: [ElfFile]
    /// The one of them that has DWARF.
    private let debug: DebugFile?
    private let search: DebugFileSearch
    private let module: Module
    private lazy var alternate = findAlternate()
    private let names = NameCache()
    private lazy var direct = openDirect()
    /// Asked where `direct` does not know.
    private lazy var dwarf = openDwarf()
    private lazy var symbols = makeSymbols()
    private lazy var stubs = files.first.map(PLTStubs.init)

    /// - Parameter module: its build id, when it has one, must be that of the file; another
    ///   file's symbols would be wrong.
    package init(_ module: Module, search: DebugFileSearch = DebugFileSearch()) {
        let found = ModuleFiles(module, search: search)
        (files, debug, problem, summary) = (found.all, found.debug, found.problem, found.summary)
        self.search = search
    }

    /// What is at an address of the module's own (ELF) address space.
    /// - Returns: outermost first, the physical function and what was inlined into it; never
    ///   empty. A function that nothing covers is nil, never a neighbour's name.
    package func frames(at address: UInt64) -> [SourceFrame] {
        if let stub = stubs?.target(of: address) {
            let name = names.name(stub)
            return [
                SourceFrame(
                    function: name.readable + "@plt", file: nil, line: nil, isInlined: false,
                    linkageName: name.linkage.map { $0 + "@plt" })
            ]
        }
    }

    /// The same by libdw, which is asked where nobody else knows, and in tests.
    package func framesByLibdw(at address: UInt64) -> [SourceFrame] {
        if let stub = stub(at: address) { return [stub] }
        let found = dwarf?.frames(at: address) ?? []
        guard let physical = found.first else {
            let name = symbols.match(address).map { names.name($0.name) }
            return [
                SourceFrame(
                    function: name?.readable, file: nil, line: nil, isInlined: false,
                    linkageName: name?.linkage)
            ]
        }
        var frames = found.map { frame in
            SourceFrame(
                function: frame.function, file: frame.file, line: frame.line,
                isInlined: frame.isInlined, isUnoptimized: frame.isUnoptimized,
                linkageName: frame.function.flatMap(names.linkageName))
        }
        if let name = symbolName(at: address, physical) {
            (frames[0].function, frames[0].linkageName) = (name.readable, name.linkage)
        }
        return frames
    }

    private func stub(at address: UInt64) -> SourceFrame? {
        stubs?.target(of: address).map { Self.frame(names.readable($0) + "@plt") }
    }

    private func symbol(at address: UInt64) -> SourceFrame {
        Self.frame(symbols.match(address).map { names.readable($0.name) })
    }

    private static func frame(_ function: String?) -> SourceFrame {
        SourceFrame(function: function, file: nil, line: nil, isInlined: false)
    }

    /// The names of the data at addresses of the module's own (ELF) address space, as far as there
    /// are symbols for them.
    package func dataNames(at addresses: [UInt64]) -> [UInt64: String] {
        DataSymbols(tables: files.flatMap(\.symbolTables)).names(at: addresses)
            .mapValues { names.readable($0) }
    }

    /// The symbol's name goes before DWARF's: it has the parameters (C++), it tells a `.cold`
    /// part from its function, and it is the same with and without debug information.
    private func symbolName(at address: UInt64, _ frame: DwarfFrame) -> NameCache.Name? {
        guard let match = symbols.match(address, known: frame.symbol),
            frame.function == nil || match.isCertain
        else { return nil }
        return names.name(match.name)
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
        debug.flatMap { debug in
            let common = alternate.flatMap { DwarfImage($0, alternate: nil) }
            return DwarfImage(debug.file, alternate: common).map {
                DirectDwarf($0, code: Self.code(of: files).hull)
            }
        }
    }

    /// The file that `dwz` made of what several have in common.
    private func findAlternate() -> ElfFile? {
        debug.flatMap { debug in
            debug.file.alternateLink.flatMap {
                search.findAlternate($0.name, buildID: $0.buildID, of: debug.path)
            }
        }
    }

    private func makeSymbols() -> SymbolIndex {
        SymbolIndex(
            tables: files.flatMap(\.symbolTables), code: Self.code(of: files),
            functionStarts: { [files] in files.first?.functionStarts ?? [] })
    }

    /// A debug file has the headers of the code's sections, too.
    private static func code(of files: [ElfFile]) -> CodeSections {
        CodeSections(files.first { $0.sections.contains(where: \.isCode) }?.sections ?? [])
    }
}
