import ProfileModel

/// The names of functions, libraries and processes of many launches, each once.
struct TopNames: Sendable {
    /// As in the launch that was added last.
    struct Name: Sendable {
        /// Its identity across all launches.
        var identity: FunctionIdentity
        var function: Function
        var file: String?
        var line: Int32?
    }

    private(set) var names: [Name] = []
    private var known: [FunctionIdentity: Int32] = [:]

    /// Recordings may have any number of names, and the memory for them grows with it.
    private static let most = 200_000
    /// Stands for names beyond this limit.
    private static let others = Function(
        name: "[other functions]", module: Function.unknownModule, moduleIndex: nil, isOwn: false)

    subscript(name: Int32) -> Name { names[Int(name)] }

    /// - Parameter program: the module that is the program itself.
    mutating func index(of function: Function, program: ModuleIndex?) -> Int32 {
        let identity = FunctionIdentity(function, program: program)
        var shown = function
        // The same in all launches, so that an entry of a list can refer to it.
        shown.name = identity.name
        return index(of: identity, shown: shown)
    }

    /// - Parameter library: the name of its file.
    mutating func index(ofLibrary library: String, isOwn: Bool) -> Int32 {
        // No function's name is empty.
        index(
            of: FunctionIdentity(name: "", module: library),
            shown: Function(name: library, module: library, moduleIndex: nil, isOwn: isOwn))
    }

    /// - Parameter process: the name of the program that it ended up running.
    mutating func index(ofProcess process: String) -> Int32 {
        // No module has this name.
        index(
            of: FunctionIdentity(name: process, module: "\0"),
            shown: Function(name: process, module: process, moduleIndex: nil, isOwn: false))
    }

    private mutating func index(of identity: FunctionIdentity, shown: Function) -> Int32 {
        if let known = known[identity] {
            names[Int(known)].function = shown
            return known
        }
        guard known.count < Self.most else {
            return index(
                of: FunctionIdentity(Self.others, program: nil), beyond: Self.others)
        }
        return append(identity, shown)
    }

    private mutating func index(of identity: FunctionIdentity, beyond shown: Function) -> Int32 {
        known[identity] ?? append(identity, shown)
    }

    private mutating func append(_ identity: FunctionIdentity, _ shown: Function) -> Int32 {
        let index = Int32(truncatingIfNeeded: names.count)
        names.append(Name(identity: identity, function: shown))
        known[identity] = index
        return index
    }

    /// Adds a name from a store, with its place in the source.
    mutating func append(_ stored: CostlyThing) -> Int32 {
        let index = Int32(truncatingIfNeeded: names.count)
        let function = Function(
            name: stored.name, module: stored.module, moduleIndex: nil, isOwn: stored.isOwn)
        let identity = FunctionIdentity(name: stored.name, module: stored.module)
        names.append(
            Name(identity: identity, function: function, file: stored.file, line: stored.line))
        return index
    }

    /// Sets its place in the source.
    mutating func place(_ name: Int32, at frame: Frame) {
        guard let file = frame.file else { return }
        names[Int(name)].file = file
        names[Int(name)].line = frame.line
    }
}
