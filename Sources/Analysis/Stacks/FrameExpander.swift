import ProfileModel

/// Turns addresses into the frames that readers see: the physical function and, inside it, what
/// the compiler inlined there. Each address is worked out once.
struct FrameExpander {
    private let modules: [(name: String, isOwn: Bool, code: Code)]
    private let symbols: SymbolTable
    /// nil: Node's functions are nowhere, or were not named.
    private let scripts: NodeScripts?
    private var roles: [FrameID: LoadingRole] = [:]
    private(set) var table: FrameTable
    private var expanded: [FrameAddress: [FrameID]] = [:]

    init(modules: [Module], symbols: SymbolTable) {
        self.modules = modules.map { module in
            let name = module.path.isEmpty ? Function.unknownModule : String(module.name)
            return (name, module.isOwn, Code(module.path))
        }
        let isOfScripts = self.modules.map { $0.code == .generated || $0.code == .node }
        let files = symbols.frames.lazy.compactMap { frame, sources in
            Self.isOfScripts(frame, isOfScripts) ? sources.first?.file : nil
        }
        scripts = files.isEmpty ? nil : NodeScripts(files)
        expanded.reserveCapacity(symbols.frames.count)
        table = FrameTable(capacity: symbols.frames.values.reduce(0) { $0 + $1.count })
        self.symbols = symbols
    }

    /// What a module has.
    private enum Code {
        case ofFile
        /// A compiler's in the process; where it has a script, that is known by V8's map.
        case generated
        /// The same, as was known when it ran.
        case node
        /// No machine code: what an interpreter runs.
        case interpreted

        init(_ path: String) {
            if path == Module.nodePath {
                self = .node
            } else if Module.isRuntime(path) {
                self = .interpreted
            } else {
                self = Module.isGenerated(path) ? .generated : .ofFile
            }
        }
    }

    private static func isOfScripts(_ frame: FrameAddress, _ modules: [Bool]) -> Bool {
        guard let index = frame.module?.rawValue else { return true }
        return modules.indices.contains(index) && modules[index]
    }

    /// Whether anything is known of Node's modules.
    var knowsScripts: Bool { scripts != nil }

    /// `frame` must be one of those that ``frames(of:)`` gave.
    func role(of frame: FrameID) -> LoadingRole { roles[frame] ?? .library }

    /// Outermost first; never empty.
    mutating func frames(of address: FrameAddress) -> [FrameID] {
        if let known = expanded[address] { return known }
        let found = symbols.frames[address] ?? []
        let sources =
            found.isEmpty
            ? [SourceFrame(function: nil, file: nil, line: nil, isInlined: false)] : found
        let result = sources.map { intern($0, at: address) }
        expanded[address] = result
        return result
    }

    /// Of the addresses that were asked about so far, by module.
    func addressCounts(modules count: Int) -> [ModuleFigures.AddressCounts] {
        var result = [ModuleFigures.AddressCounts](repeating: .init(), count: count)
        for address in expanded.keys {
            guard let index = address.module?.rawValue, result.indices.contains(index) else {
                continue
            }
            let found = symbols.frames[address] ?? []
            result[index].all += 1
            if !(found.first?.function ?? "").isEmpty { result[index].named += 1 }
            if found.contains(where: { $0.line != nil }) { result[index].withLine += 1 }
        }
        return result
    }

    mutating func frame(of function: Function) -> FrameID { table.internFrame(of: function) }

    private mutating func intern(_ source: SourceFrame, at address: FrameAddress) -> FrameID {
        let function = table.intern(function(of: source, at: address))
        let frame = table.intern(
            Frame(
                function: function, file: table[function].isImport ? nil : source.file,
                line: source.line,
                isInlined: source.isInlined, isUnoptimized: source.isUnoptimized))
        if let file = source.file, let scripts, [.generated, .node].contains(code(at: address)) {
            roles[frame] = role(of: source, in: file, scripts)
        }
        return frame
    }

    private mutating func role(
        of source: SourceFrame, in file: String, _ scripts: NodeScripts
    ) -> LoadingRole {
        let (isModule, role) = scripts.role(of: source.function, in: file)
        guard isModule else { return role }
        let importing = Function(
            name: "import " + scripts.moduleName(of: file), module: Function.importModule,
            moduleIndex: nil, isOwn: ScriptPath(file).isOwn)
        return .module(table.internFrame(of: importing))
    }

    private func code(at address: FrameAddress) -> Code {
        guard let index = address.module?.rawValue else { return .generated }
        return modules.indices.contains(index) ? modules[index].code : .ofFile
    }

    private func function(of source: SourceFrame, at address: FrameAddress) -> Function {
        let known = source.function.flatMap { $0.isEmpty ? nil : $0 }
        func lookup() -> String { "0x" + String(address.address.lookup, radix: 16) }
        // Of what an interpreter runs, the script is what a library is of compiled code.
        if code(at: address) != .ofFile, let file = source.file.map(ScriptPath.init) {
            return Function(
                name: known ?? lookup(), module: file.shortName, moduleIndex: address.module,
                isOwn: file.isOwn, line: known == "(anonymous)" ? source.line : nil)
        }
        guard let index = address.module, modules.indices.contains(index.rawValue) else {
            let isKernel = CodeAddress.isKernel(address.address.value)
            return Function(
                name: known ?? lookup(),
                module: isKernel ? Function.kernelModule : Function.unknownModule,
                moduleIndex: nil, isOwn: false)
        }
        let module = modules[index.rawValue]
        return Function(
            name: known ?? module.name + "+" + lookup(), module: module.name, moduleIndex: index,
            isOwn: module.isOwn)
    }
}
