import ProfileModel

/// Turns addresses into the frames that readers see: the physical function and, inside it, the
/// functions that the compiler inlined there. Each address is expanded only once.
struct FrameExpander {
    private let modules: [Code]
    private let symbols: SymbolTable
    /// nil: the recording has no functions of Node's, or none with a name.
    private let scripts: NodeScripts?
    private var roles: [FrameID: LoadingRole] = [:]
    private(set) var table: FrameTable
    private var expanded: [FrameAddress: [FrameID]] = [:]
    /// Script functions that a map of run-time code names.
    private(set) var trampolines: Set<FunctionID> = []
    /// Functions of the kernel's own work: see ``Function/isUnasked``.
    private(set) var unasked: Set<FunctionID> = []

    /// The properties that all functions of a module share.
    private struct Code {
        var name: String
        var isOwn: Bool
        var origin: Origin
        var language: Language?

        init(_ module: Module) {
            name = module.path.isEmpty ? Function.unknownModule : String(module.name)
            isOwn = module.isOwn
            origin = Origin(module)
            language = Language(of: module)
        }
    }

    init(modules: [Module], symbols: SymbolTable) {
        self.modules = modules.map(Code.init)
        let isOfScripts = self.modules.map { $0.origin == .generated || $0.origin == .node }
        let files = symbols.frames.lazy.compactMap { frame, sources in
            Self.isOfScripts(frame, isOfScripts) ? sources.first?.file : nil
        }
        scripts = files.isEmpty ? nil : NodeScripts(files)
        expanded.reserveCapacity(symbols.frames.count)
        table = FrameTable(capacity: symbols.frames.values.reduce(0) { $0 + $1.count })
        self.symbols = symbols
    }

    /// Where a module's code comes from.
    private enum Origin {
        case ofFile
        /// Code made by a compiler in the process; if it belongs to a script, V8's map names the
        /// script.
        case generated
        /// The same, but the recorder named it while it ran.
        case node
        /// No machine code: functions that an interpreter runs.
        case interpreted

        init(_ module: Module) {
            if module.path == Module.nodePath {
                self = .node
            } else if Module.isRuntime(module.path) {
                self = .interpreted
            } else {
                self = module.isGenerated ? .generated : .ofFile
            }
        }
    }

    private static func isOfScripts(_ frame: FrameAddress, _ modules: [Bool]) -> Bool {
        guard let index = frame.module?.rawValue else { return true }
        return modules.indices.contains(index) && modules[index]
    }

    /// Whether anything is known of Node's modules.
    var knowsScripts: Bool { scripts != nil }

    /// `frame` must come from ``frames(of:)``.
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

    /// The counts of the addresses expanded so far, by module.
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
        if table[function].isUnasked { unasked.insert(function) }
        let frame = table.intern(
            Frame(
                function: function, file: table[function].isImport ? nil : source.file,
                line: source.line,
                isInlined: source.isInlined, isUnoptimized: source.isUnoptimized))
        if let file = source.file, let scripts, [.generated, .node].contains(origin(at: address)) {
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
            name: "import " + scripts.moduleName(of: file), module: ScriptPath.ofImports,
            moduleIndex: nil, isOwn: ScriptPath(file).isOwn, language: .javaScript)
        return .module(table.internFrame(of: importing))
    }

    private func origin(at address: FrameAddress) -> Origin {
        guard let index = address.module?.rawValue else { return .generated }
        return modules.indices.contains(index) ? modules[index].origin : .ofFile
    }

    /// nil: its code is from a file, or the name holds no more than a name.
    private func perfMapName(of source: SourceFrame, at address: FrameAddress) -> PerfMapName? {
        if let index = known(address.module), modules[index.rawValue].origin != .generated {
            return nil
        }
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
        // For interpreted code, the script takes the place of the library of compiled code.
        if origin(at: address) != .ofFile, let file = source.file.map(ScriptPath.init) {
            let index = known(address.module)
            return Function(
                name: name ?? lookup(), module: file.shortName, moduleIndex: index,
                isOwn: file.isOwn,
                // For code made at run time, only V8's maps have the file.
                language: origin(at: address) == .generated
                    ? .javaScript : index.flatMap { modules[$0.rawValue].language },
                line: name == "(anonymous)" ? source.line : nil)
        }
        guard let index = known(address.module) else {
            let isKernel = CodeAddress.isKernel(address.address.value)
            return Function(
                name: name ?? lookup(),
                module: isKernel ? Function.kernelModule : Function.unknownModule,
                moduleIndex: nil, isOwn: false, language: isKernel ? .kernel : nil)
        }
        let module = modules[index.rawValue]
        return Function(
            name: name ?? module.name + "+" + lookup(), module: module.name, moduleIndex: index,
            isOwn: module.isOwn
                && !(name.map { StandardLibrary.contains($0, file: source.file) } ?? false),
            language: module.language)
    }
}

/// The information in a just-in-time compiler's name for its code (`/tmp/perf-PID.map`).
///
/// CPython with `-X perf` writes `py::qualified.name:/path/script.py` (`Python/perf_trampoline.c`).
/// Any process may write such a file. Whatever its content, the name is used only as a name and the
/// path only as text.
struct PerfMapName: Hashable {
    var function: String
    /// The script.
    var file: String
    var language: Language

    private static let python = "py::"

    /// nil: the text is only a name.
    init?(_ text: String) {
        guard text.hasPrefix(Self.python) else { return nil }
        let rest = text.dropFirst(Self.python.count)
        guard let colon = Self.separator(of: rest) else { return nil }
        let (function, file) = (rest[..<colon], rest[rest.index(after: colon)...])
        guard !function.isEmpty, !file.isEmpty else { return nil }
        self.function = String(function)
        self.file = String(file)
        language = .python
    }

    /// Both sides may have colons. Nearly all paths begin with `/`, or are no paths (`<string>`).
    private static func separator(of text: Substring) -> Substring.Index? {
        [text.firstRange(of: ":/"), text.firstRange(of: ":<")].compactMap { $0?.lowerBound }.min()
            ?? text.firstIndex(of: ":")
    }
}

/// The scripts that Node ran in a recording.
struct NodeScripts: Sendable {
    /// The folder that contains all of the program's own scripts.
    private let folder: [Substring]

    /// - Parameter files: the files of all JavaScript functions.
    init(_ files: some Sequence<String>) {
        var common: [Substring]?
        for file in Set(files) where file.hasPrefix("/") && ScriptPath(file).isOwn {
            let parts = Array(file.split(separator: "/").dropLast())
            common = common.map { Array(zip($0, parts).prefix { $0 == $1 }.map(\.0)) } ?? parts
        }
        folder = common ?? []
    }

    func role(of function: String?, in file: String) -> (isModule: Bool, role: LoadingRole) {
        if function == "<module>" { return (true, .library) }
        guard file.hasPrefix("node:") else { return (false, .program) }
        if function == "executeUserEntryPoint" { return (false, .start) }
        return (false, Self.loaders.contains(where: file.hasPrefix) ? .loader : .library)
    }

    private static let loaders = ["node:internal/modules/", "node:internal/bootstrap/realm"]

    /// A module's name: its path from its package on, or below the program's folder.
    func moduleName(of file: String) -> String {
        guard file.hasPrefix("/") else { return file }
        let parts = file.split(separator: "/")
        if let packages = parts.lastIndex(of: "node_modules"), packages < parts.count - 1 {
            return parts[(packages + 1)...].joined(separator: "/")
        }
        guard parts.starts(with: folder), parts.count > folder.count else { return file }
        return parts[folder.count...].joined(separator: "/")
    }
}

/// Distinguishes functions of a language's standard library, which compilers put into the
/// developer's own file, from the developer's.
enum StandardLibrary {
    /// - Parameters:
    ///   - name: demangled.
    ///   - file: the file of the function; nil: not known.
    static func contains(_ name: String, file: String?) -> Bool {
        if file?.hasSuffix(".go") == true { return isOfGo(name) }
        // The runtime's functions in Go's assembler have their packages' names, too.
        if file?.hasSuffix(".s") == true { return name.contains(".") && isOfGo(name) }
        // This runs for every function of a large program, so it compares bytes, not characters.
        let bytes = Array(name.utf8)
        let name = bytes[qualifiedStart(bytes)...]
        return namespaces.contains { name.starts(with: $0) }
    }

    /// C++'s, Rust's (for a call of `<Type as Trait>::f`, the type counts) and Swift's.
    private static let namespaces = [
        "std::", "__gnu_cxx::", "core::", "alloc::", "<core::", "<alloc::", "<std::",
        "hashbrown::", "Swift.",
    ].map { Array($0.utf8) }

    /// Precedes the name of a specialisation's original function.
    private static let original = Array("of Swift.".utf8)

    /// The start of the name, after a template's return type or the words before a specialised
    /// function.
    private static func qualifiedStart(_ name: [UInt8]) -> Int {
        var depth = 0
        var start = 0
        for (index, byte) in name.enumerated() {
            switch byte {
            case UInt8(ascii: "<"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: ">"), UInt8(ascii: "]"): depth -= 1
            // The rest is the parameters.
            case UInt8(ascii: "(") where depth == 0 && index > start: return start
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"): depth -= 1
            case UInt8(ascii: " ") where depth == 0:
                start = index + 1
                let rest = name[start...]
                if rest.starts(with: original) { return start + 3 }
            default: break
            }
        }
        return start
    }

    /// A package's path ends at the first point after its last slash.
    private static func isOfGo(_ name: String) -> Bool {
        packages.contains(String(name.prefix { $0 != "/" && $0 != "." }))
            // Another host's package of that name has a point before its first slash.
            && !(name.firstIndex(of: "/").map { name[..<$0].contains(".") } ?? false)
    }

    /// The folders of Go's own source (`go list std`).
    private static let packages: Set<String> = [
        "archive", "bufio", "bytes", "cmp", "compress", "container", "context", "crypto",
        "database",
        "debug", "embed", "encoding", "errors", "expvar", "flag", "fmt", "go", "hash", "html",
        "image",
        "index", "internal", "io", "iter", "log", "maps", "math", "mime", "net", "os", "path",
        "plugin",
        "reflect", "regexp", "runtime", "slices", "sort", "strconv", "strings", "structs", "sync",
        "syscall", "testing", "text", "time", "unicode", "unique", "unsafe", "vendor", "weak",
    ]
}
