import ProfileModel

/// The identity of a function in two recordings: its name and the name of its module's file.
/// Addresses, build ids and folders change from build to build.
struct FunctionIdentity: Hashable, Sendable {
    /// Without the suffix that the compiler appends to a part or a variant of a function.
    var name: String
    /// Empty: the program itself, whatever it is called.
    var module: String

    /// Stands for all code of a module whose functions have no known names. Addresses differ in
    /// each build, and each sample has its own.
    static let unnamed = "[no symbol]"

    /// - Parameter program: the module that is the program itself.
    init(_ function: Function, program: ModuleIndex?) {
        name = function.isUnnamed ? Self.unnamed : Self.withoutClone(function.name)
        let isProgram = function.moduleIndex != nil && function.moduleIndex == program
        module = isProgram ? "" : function.module
    }

    /// For an entry that is no function. Its module must differ from those of all functions.
    init(name: String, module: String) {
        (self.name, self.module) = (name, module)
    }

    /// `search(int) [clone .part.0]` → `search(int)`
    private static func withoutClone(_ name: String) -> String {
        // This check is far quicker than the search below, and most names contain no bracket.
        guard name.utf8.contains(UInt8(ascii: "[")),
            let end = name.firstRange(of: " [clone ")?.lowerBound, end > name.startIndex
        else { return name }
        return String(name[..<end])
    }
}

extension Function {
    /// Whether its name is only an address.
    package var isUnnamed: Bool {
        let prefix = moduleIndex == nil ? "0x" : module + "+0x"
        return name.hasPrefix(prefix)
            && name.dropFirst(prefix.count).utf8.allSatisfy {
                0x30...0x39 ~= $0 || 0x61...0x66 ~= $0
            }
    }
}

extension Profile {
    /// The module that is the program itself; nil: not known.
    var programModule: ModuleIndex? {
        let name = Module(path: program.path).name
        let position =
            modules.firstIndex { $0.path == program.path && !$0.path.isEmpty }
            ?? modules.firstIndex { !name.isEmpty && Module(path: $0.path).name == name }
        return position.map { ModuleIndex($0) }
            ?? frames.functions.first { $0.name == "main" && $0.moduleIndex != nil }?.moduleIndex
    }
}
