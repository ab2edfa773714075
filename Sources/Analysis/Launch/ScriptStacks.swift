import ProfileModel

/// The stage of a Python launch, as each of a recording's stacks shows it.
struct ScriptStacks {
    /// The stage according to a stack's outermost functions.
    enum Place: Hashable {
        /// No Python function is known; `isInterpreter` says whether the program is a Python
        /// interpreter.
        case native(isInterpreter: Bool)
        /// Python runs within another program.
        case embedded
        /// Before the program's first line: the interpreter imports the modules that it needs
        /// itself.
        case starting
        /// `runpy` looks for the module that is the program (`-m`).
        case finding
        /// The program's first module (`__main__`) runs, and calls no function.
        case module
        /// That module imports, or `runpy` imports the package that it is in.
        case importing
        /// That module calls functions.
        case calling
    }

    private let nodes: [StackTable.Node]
    private let symbols: SymbolTable
    private let isRuntime: [Bool]
    private let isPython: [Bool]
    private var known: [Place?]

    /// nil: the recording has no functions of an interpreter.
    init?(_ recording: Recording) {
        isRuntime = recording.modules.map { Module.isRuntime($0.path) }
        guard isRuntime.contains(true) else { return nil }
        // `python3.11`, but not `libpython3.11.so`, with which other programs run Python.
        isPython = recording.modules.map { $0.name.hasPrefix("python") }
        nodes = recording.stacks.nodes
        symbols = recording.symbols
        known = [Place?](repeating: nil, count: nodes.count)
    }

    /// nil: there is no such stack.
    mutating func place(of stack: StackID) -> Place? {
        guard nodes.indices.contains(Int(stack.rawValue)) else { return nil }
        // Outward to the first known caller, then inward again.
        var unknown: [Int] = []
        var place = Place.native(isInterpreter: false)
        var current = Int(stack.rawValue)
        while true {
            if let found = known[current] {
                place = found
                break
            }
            unknown.append(current)
            // Callers precede callees; anything else is bad data that could make a cycle.
            guard let parent = nodes[current].parent, 0..<current ~= Int(parent.rawValue) else {
                break
            }
            current = Int(parent.rawValue)
        }
        for node in unknown.reversed() {
            place = self.place(below: place, nodes[node].frame)
            known[node] = place
        }
        return place
    }

    private func place(below caller: Place, _ frame: FrameAddress) -> Place {
        let module = frame.module.flatMap {
            isRuntime.indices.contains($0.rawValue) ? $0.rawValue : nil
        }
        let sources = symbols.frames[frame] ?? []
        guard let module, isRuntime[module] else {
            guard case .native(false) = caller else { return caller }
            let isInterpreter =
                module.map { isPython[$0] } ?? false
                || sources.contains { Self.programs.contains($0.function ?? "") }
            return .native(isInterpreter: isInterpreter)
        }
        return Self.place(
            below: caller, function: sources.first?.function ?? "", file: sources.first?.file ?? "")
    }

    /// A program that calls one of these functions is a Python interpreter.
    private static let programs: Set = ["Py_RunMain", "Py_BytesMain", "Py_Main", "pymain_main"]

    private static func place(below caller: Place, function: String, file: String) -> Place {
        switch caller {
        case .native(isInterpreter: false): return .embedded
        case .native(isInterpreter: true):
            if function == "_run_module_as_main" { return .finding }
            return isModule(function, file) ? .module : .starting
        case .finding:
            if file == ScriptPath.ofImports { return .importing }
            return isModule(function, file) ? .module : .finding
        case .module:
            // `importlib.import_module`, and the code that handles `from … import`.
            if file == ScriptPath.ofImports || file.hasPrefix("<frozen importlib") {
                return .importing
            }
            return file.hasSuffix("/importlib/__init__.py") ? .module : .calling
        case .embedded, .starting, .importing, .calling: return caller
        }
    }

    /// Whether it is the code of a module that is not built into the interpreter.
    private static func isModule(_ function: String, _ file: String) -> Bool {
        function == "<module>" && !file.hasPrefix("<frozen ")
    }
}
