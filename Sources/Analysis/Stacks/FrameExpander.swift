import ProfileModel

/// Turns addresses into the frames that readers see: the physical function and, inside it, what
/// the compiler inlined there. Each address is worked out once.
struct FrameExpander {
    private let modules: [Code]
    private let symbols: SymbolTable
    private(set) var table: FrameTable
    private var expanded: [FrameAddress: [FrameID]] = [:]
    /// Functions of scripts as a map of code made at run time names them.
    private(set) var trampolines: Set<FunctionID> = []

    /// What a module says of all its functions.
    private struct Code {
        var name: String
        var isOwn: Bool
        var isRuntime: Bool
        var isGenerated: Bool
        var language: Language?

        init(_ module: Module) {
            name = module.path.isEmpty ? Function.unknownModule : String(module.name)
            isOwn = module.isOwn
            isRuntime = Module.isRuntime(module.path)
            isGenerated = Module.isGenerated(module.path)
            language = Language(ofModule: module.path)
        }
    }

    init(modules: [Module], symbols: SymbolTable) {
        self.modules = modules.map(Code.init)
        expanded.reserveCapacity(symbols.frames.count)
        table = FrameTable(capacity: symbols.frames.values.reduce(0) { $0 + $1.count })
        self.symbols = symbols
    }

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
        if let name = perfMapName(of: source, at: address) {
            return intern(name, moduleIndex: known(address.module))
        }
        let function = table.intern(function(of: source, at: address))
        return table.intern(
            Frame(
                function: function, file: table[function].isImport ? nil : source.file,
                line: source.line,
                isInlined: source.isInlined, isUnoptimized: source.isUnoptimized))
    }

    /// nil: its code is a file's, or its name is nothing but a name.
    private func perfMapName(of source: SourceFrame, at address: FrameAddress) -> PerfMapName? {
        if let index = known(address.module), !modules[index.rawValue].isGenerated { return nil }
        return source.function.flatMap { PerfMapName($0) }
    }

    private mutating func intern(_ name: PerfMapName, moduleIndex: ModuleIndex?) -> FrameID {
        let path = ScriptPath(name.file)
        let function = table.intern(
            Function(
                name: name.function, module: path.shortName, moduleIndex: moduleIndex,
                isOwn: path.isOwn, language: name.language))
        trampolines.insert(function)
        return table.intern(Frame(function: function, file: name.file))
    }

    private func known(_ module: ModuleIndex?) -> ModuleIndex? {
        module.flatMap { modules.indices.contains($0.rawValue) ? $0 : nil }
    }

    private func function(of source: SourceFrame, at address: FrameAddress) -> Function {
        let name = source.function.flatMap { $0.isEmpty ? nil : $0 }
        func lookup() -> String { "0x" + String(address.address.lookup, radix: 16) }
        guard let index = known(address.module) else {
            let isKernel = CodeAddress.isKernel(address.address.value)
            return Function(
                name: name ?? lookup(),
                module: isKernel ? Function.kernelModule : Function.unknownModule,
                moduleIndex: nil, isOwn: false, language: isKernel ? .kernel : nil)
        }
        let module = modules[index.rawValue]
        // Of what an interpreter runs, the script is what a library is of compiled code.
        if module.isRuntime, let file = source.file.map(ScriptPath.init) {
            return Function(
                name: name ?? lookup(), module: file.shortName, moduleIndex: index,
                isOwn: file.isOwn, language: module.language)
        }
        return Function(
            name: name ?? module.name + "+" + lookup(), module: module.name, moduleIndex: index,
            isOwn: module.isOwn, language: module.language)
    }
}
