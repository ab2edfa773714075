internal import ELF
internal import GoTables
import ProfileModel

/// The files that explain a module's addresses, and remarks about them.
///
/// In this order: the module's own file; a separate debug file (``DebugFileSearch``); the symbols
/// packed into the stripped module. Each file is used only for information that the earlier ones
/// lack.
struct ModuleFiles {
    /// None to three files, in the order above.
    let all: [ELFFile]
    /// The file among them that has DWARF.
    let debug: DebugFile?
    /// The other parts of that file's units, if they are in a package.
    let package: DebugPackage?
    /// Why the module's own file is not used; nil if it is, or if no file was expected.
    let problem: ELFFileError?
    let summary: ModuleSymbols

    /// - Parameter module: if it has a build id, the file must have the same: another file's
    ///   symbols would be wrong.
    init(_ module: Module, search: DebugFileSearch) {
        let own: ELFFile?
        (own, problem) = Self.openOwn(module, search)
        var remarks = problem.map { [Self.remark(on: $0)] } ?? []
        let complete = own.flatMap { $0.hasDebugInfo ? $0 : nil }
        // With a recorded build id, the debug file is found even if the module has been replaced.
        let separate =
            complete == nil
            ? search.find(
                for: module.path,
                buildID: module.buildID.isEmpty ? own?.buildID ?? [] : module.buildID,
                link: own?.debugLink, fetched: search.fetched[module], refused: &remarks)
            : nil
        let debug =
            complete.map { DebugFile(path: module.path, file: $0, origin: .module) }
            ?? separate.flatMap { $0.file.hasDebugInfo ? $0 : nil }
        let packed = Self.packedSymbols(of: own, besides: separate?.file, &remarks)
        if let debug, let missing = Self.missingCommonFile(of: debug, search) {
            remarks.append(ModuleRemark(.missingCommonFile, missing))
        }
        var split: ModuleRemark?
        let package = debug.flatMap {
            search.findPackage(of: $0, own, at: module.path, refused: &split)
        }
        split = split ?? debug.flatMap { SplitFiles.remark(on: $0, package) }
        if let split { remarks.append(split) }
        self.package = package
        all = [own, separate?.file, packed].compactMap { $0 }
        self.debug = debug
        summary = ModuleSymbols(
            debugInfoPath: debug.map { Self.pathBelowRoot($0.path) },
            debugInfoOrigin: debug?.origin,
            symbolOrigin: Self.symbolOrigin(of: [own, separate?.file], packed),
            remarks: Array(remarks.prefix(ModuleSymbols.mostRemarks)))
    }

    /// The recorder holds the roots of containers open, and opens files through its descriptors. Readers of a
    /// report know a file by the path that the process sees.
    private static func pathBelowRoot(_ path: String) -> String {
        let held = "/proc/self/fd/"
        guard path.hasPrefix(held), let end = path.dropFirst(held.count).firstIndex(of: "/") else {
            return path
        }
        return String(path[end...])
    }

    /// The module's own file; nil if there is none, or it is not the recorded one.
    static func own(_ module: Module, _ search: DebugFileSearch) -> ELFFile? {
        openOwn(module, search).0
    }

    /// Mappings without a file (`[heap]`, `//anon`) have no symbols; this is no problem.
    private static func openOwn(
        _ module: Module, _ search: DebugFileSearch
    ) -> (ELFFile?, ELFFileError?) {
        do throws(ELFFileError) {
            if module.path == "[vdso]" {
                return (try ownVDSO(module.buildID), nil)
            }
            guard module.path.hasPrefix("/"), !module.path.hasPrefix("//") else {
                return (nil, nil)
            }
            return (try open(module, search), nil)
        } catch {
            return (nil, error)
        }
    }

    /// If a recording does not know its vdso's build id, it may be of another kernel.
    private static func ownVDSO(_ buildID: [UInt8]) throws(ELFFileError) -> ELFFile {
        let file = try ELFFile.vdso()
        guard !buildID.isEmpty, file.buildID == buildID else { throw .otherBuildID }
        return file
    }

    /// The build id tells whether the file at the path is the right one. If there is no build id, a
    /// file that was kept open is right.
    private static func open(
        _ module: Module, _ search: DebugFileSearch
    ) throws(ELFFileError) -> ELFFile {
        let kept = [search.standIns[module]].compactMap { $0 }
        let placed = search.placed([module.path])
        let paths = module.buildID.isEmpty ? kept + placed : placed + kept
        var problem = ELFFileError.notUsable
        for (position, path) in paths.enumerated() {
            do throws(ELFFileError) {
                return try open(path, module.buildID)
            } catch {
                // Report the problem of the first path.
                if position == 0 { problem = error }
            }
        }
        throw problem
    }

    private static func open(
        _ path: String, _ buildID: [UInt8]
    ) throws(ELFFileError) -> ELFFile {
        let file = try ELFFile(path: path)
        guard buildID.isEmpty || file.buildID == buildID else { throw .otherBuildID }
        return file
    }

    private static func remark(on problem: ELFFileError) -> ModuleRemark {
        problem == .otherBuildID
            ? ModuleRemark(.otherBuildID) : ModuleRemark(.unreadable, problem.description)
    }

    private static func packedSymbols(
        of own: ELFFile?, besides separate: ELFFile?, _ remarks: inout [ModuleRemark]
    ) -> ELFFile? {
        guard let own, !own.hasSymbolTable, separate?.hasSymbolTable != true else { return nil }
        switch MiniDebugInfo.read(from: own) {
        case .absent: return nil
        case .found(let file) where file.hasSymbolTable: return file
        case .found, .damaged:
            remarks.append(ModuleRemark(.damagedMiniDebugInfo))
            return nil
        }
    }

    private static func symbolOrigin(
        of files: [ELFFile?], _ packed: ELFFile?
    ) -> SymbolOrigin? {
        let tables = files.compactMap { $0 }.flatMap(\.symbolTables)
        if tables.contains(where: { !$0.isDynamic }) { return .complete }
        if packed != nil { return .miniDebugInfo }
        if files.first?.flatMap(GoFunctionTable.init(in:)) != nil { return .goTable }
        return tables.isEmpty ? nil : .exported
    }

    private static func missingCommonFile(
        of debug: DebugFile, _ search: DebugFileSearch
    ) -> String? {
        guard let link = debug.file.alternateLink,
            search.findAlternate(link.name, buildID: link.buildID, of: debug.path) == nil
        else { return nil }
        return link.name
    }
}
