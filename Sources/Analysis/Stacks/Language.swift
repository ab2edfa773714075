internal import ProfileModel

/// The language of a function, as far as viewers distinguish code. All compiled code is one
/// language here: a C++ function calls a Rust function as it calls its own.
package enum Language: String, Hashable, Sendable, CaseIterable {
    case native, python
    case javaScript = "javascript"
    case kernel

    /// The usual spelling.
    package var name: String {
        switch self {
        case .native: "native"
        case .python: "Python"
        case .javaScript: "JavaScript"
        case .kernel: "kernel"
        }
    }

    /// Whether an interpreter or a just-in-time compiler runs it from a script.
    package var isScripted: Bool { self == .python || self == .javaScript }
}

extension Language {
    /// The language of a module's functions. nil: the module does not tell.
    init?(of module: Module) {
        let path = module.path
        if Module.isKernel(path) {
            self = .kernel
        } else if let runtime = Module.runtimeName(path) {
            self.init(ofRuntime: runtime)
        } else if !module.isGenerated, path.hasPrefix("/") || path == "[vdso]" {
            self = .native
        } else {
            return nil
        }
    }

    /// - Parameter name: of the interpreter, with its version.
    private init?(ofRuntime name: Substring) {
        switch name.prefix(while: { $0 != " " }) {
        case "Python": self = .python
        case "Node": self = .javaScript
        default: return nil
        }
    }
}
