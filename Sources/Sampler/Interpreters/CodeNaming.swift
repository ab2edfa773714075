import ProfileModel
import Runtimes

/// Names the code of an interpreter's frames, each once.
struct CodeNaming {
    private let interpreter: PythonInterpreter
    private var names: PythonNames
    /// Code that was named.
    private var named: Set<PythonCodeKey> = []
    /// That of importlib's function which imports a module, whose name is its first local variable.
    private var importers: Set<PythonCodeKey> = []
    private static let mostNamed = 1 << 17
    /// The last copy of which all was told, and what its frames import, by how far from the oldest one
    /// they are.
    private var told: (copy: RuntimeCopy, imports: [(place: Int, local: UInt64)])?

    private static let mostModules = 64

    init(_ interpreter: PythonInterpreter) {
        self.interpreter = interpreter
        names = PythonNames(interpreter)
    }

    /// What a copy's frames refer to, as far as it was not told before. Read at once: a module's code is
    /// gone as soon as it has run.
    mutating func newNames(in copy: RuntimeCopy, _ memory: ProcessMemory) -> InterpretedNames? {
        var found = InterpretedNames()
        if named.count > Self.mostNamed {
            named.removeAll(keepingCapacity: true)
            told = nil
        }
        // Most of a deep stack is what it was.
        let oldest = told.map { copy.commonOldest($0.copy, interpreter.layout) } ?? 0
        var imports = told?.imports.filter { $0.place < oldest } ?? []
        var isAllNamed = true
        for frame in interpreter.frames(of: copy, without: oldest) {
            if !named.contains(frame.key) {
                guard let code = names.code(for: frame.key, memory) else {
                    isAllNamed = false
                    continue
                }
                named.insert(frame.key)
                found.codes.append((frame.key, code))
                if code.namesImport { importers.insert(frame.key) }
            }
            if importers.contains(frame.key) {
                imports.append((copy.addresses.count - 1 - frame.index, frame.firstLocal))
            }
        }
        if !imports.isEmpty {
            let locals = Array(imports.map(\.local).suffix(Self.mostModules))
            for (local, text) in zip(locals, names.texts(at: locals, memory)) {
                found.modules[local] = text
            }
        }
        told = isAllNamed ? (copy, imports) : nil
        return found.isEmpty ? nil : found
    }
}
