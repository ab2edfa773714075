import ProfileModel
import Runtimes

/// Names the code of an interpreter's frames, each once.
struct CodeNaming {
    private let interpreter: PythonInterpreter
    private var names: PythonNames
    /// Code that was named.
    private var named: Set<PythonCodeKey> = []
    /// The code of importlib's function that imports a module. The module's name is the function's
    /// first local variable.
    private var importers: Set<PythonCodeKey> = []
    private static let mostNamed = 1 << 17
    /// The last copy whose code was all named, and the imports of its frames, by each frame's
    /// distance from the oldest one.
    private var told: (copy: RuntimeCopy, imports: [(place: Int, local: UInt64)])?

    private static let mostModules = 64

    init(_ interpreter: PythonInterpreter) {
        self.interpreter = interpreter
        names = PythonNames(interpreter)
    }

    /// The names that a copy's frames refer to, without those reported before. They are read at
    /// once: a module's code is gone as soon as it has run.
    mutating func newNames(in copy: RuntimeCopy, _ memory: ProcessMemory) -> InterpretedNames? {
        var found = InterpretedNames()
        if named.count > Self.mostNamed {
            named.removeAll(keepingCapacity: true)
            told = nil
        }
        // Most of a deep stack has not changed.
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
