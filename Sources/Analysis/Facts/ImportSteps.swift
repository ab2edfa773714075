import ProfileModel

/// The imports of each stack, as a tree of imports alone, without the functions between them.
struct ImportSteps {
    static let none = PathTable.none

    struct Step {
        var parent: Int32
        var depth: Int
        var name: String
        var isAwaited: Bool
        var file: String?
        /// The frame that represents it in stacks.
        var frame: FrameID
    }

    private(set) var steps: [Step] = []
    /// For each path, the innermost step that it is in.
    private var innermost: [Int32] = []
    private var gaps: [Gaps] = []
    /// Paths within an import that have no script function after its step.
    private var isBare: [Bool] = []
    /// For each path, the outermost function.
    private var roots: [FunctionID] = []

    /// Where a path's frames are missing.
    struct Gaps: OptionSet {
        var rawValue: UInt8
        static let outermost = Gaps(rawValue: 1)
        /// The stack shows the interpreter's own loop instead of the script function that it ran.
        static let within = Gaps(rawValue: 2)
    }

    private struct Key: Hashable {
        var parent: Int32
        var function: FunctionID
    }

    var isEmpty: Bool { steps.isEmpty }

    init(_ table: PathTable, _ frames: FrameTable) {
        guard frames.functions.contains(where: \.isImport) else {
            innermost = [Int32](repeating: Self.none, count: table.paths.count)
            return
        }
        var known: [Key: Int32] = [:]
        for path in table.paths {
            let function = frames[path.function]
            let isRoot = path.parent == PathTable.none
            var step = isRoot ? Self.none : innermost[Int(path.parent)]
            var missing = isRoot ? function.gapsOfRoot : gaps[Int(path.parent)]
            if function.isInterpreterLoop { missing.insert(.within) }
            gaps.append(missing)
            roots.append(isRoot ? path.function : roots[Int(path.parent)])
            if function.isImport {
                step = place(of: Key(parent: step, function: path.function), function, &known)
            }
            let isInImport = function.isImport || !isRoot && isBare[Int(path.parent)]
            isBare.append(isInImport && (function.isImport || !function.isScripted))
            innermost.append(step)
        }
        readSites(table, frames)
    }

    private mutating func place(
        of key: Key, _ function: Function, _ known: inout [Key: Int32]
    ) -> Int32 {
        if let place = known[key] { return place }
        let place = Int32(truncatingIfNeeded: steps.count)
        let depth = key.parent == Self.none ? 0 : steps[Int(key.parent)].depth + 1
        let (name, isAwaited) = function.importedModule
        // `readSites` fills in the file and the frame.
        steps.append(
            Step(
                parent: key.parent, depth: depth, name: name, isAwaited: isAwaited,
                frame: FrameID(0)))
        known[key] = place
        return place
    }

    /// A module's code is the first script function that its import runs.
    private mutating func readSites(_ table: PathTable, _ frames: FrameTable) {
        for site in table.sites {
            let path = table.paths[Int(site.path)]
            if frames[path.function].isImport {
                steps[Int(innermost[Int(site.path)])].frame = site.frame
            }
            guard path.parent != PathTable.none, isBare[Int(path.parent)],
                frames[path.function].isModuleCode
            else { continue }
            let step = Int(innermost[Int(site.path)])
            steps[step].file = steps[step].file ?? frames[site.frame].file
        }
    }

    /// The innermost step of a stack; ``none``: it is in no import.
    func step(of path: Int32) -> Int32 { innermost[Int(path)] }

    /// The function that represents a step in stacks.
    func function(of step: Int, _ frames: FrameTable) -> FunctionID {
        frames[steps[step].frame].function
    }

    /// The function that represents the innermost step of a stack; nil: the stack is in no import.
    func function(ofPath path: Int32, _ frames: FrameTable) -> FunctionID? {
        let step = step(of: path)
        return step == Self.none ? nil : function(of: Int(step), frames)
    }

    /// The innermost step of a stack, and the gaps where others may be missing. Call only if not
    /// ``isEmpty``.
    func step(ofPath path: Int32) -> (step: Int32, gaps: Gaps) {
        (innermost[Int(path)], gaps[Int(path)])
    }

    /// All complete stacks of a thread have the same root.
    func root(ofPath path: Int32) -> FunctionID { roots[Int(path)] }

    /// Whether two steps import modules of the same name.
    func areAlike(_ left: Int32, _ right: Int32) -> Bool {
        let (first, second) = (steps[Int(left)], steps[Int(right)])
        return first.name == second.name && first.isAwaited == second.isAwaited
    }

    /// The steps from the outermost to `step`.
    func chain(to step: Int32) -> [Int32] {
        var chain: [Int32] = []
        var step = step
        while step != Self.none {
            chain.append(step)
            step = steps[Int(step)].parent
        }
        return chain.reversed()
    }
}

extension Function {
    /// The names of steps begin with these words.
    static let imports = "import "
    static let awaits = "waiting for import of "

    /// The module that the step of an import names.
    fileprivate var importedModule: (name: String, isAwaited: Bool) {
        if name.hasPrefix(Self.awaits) {
            return (String(name.dropFirst(Self.awaits.count)), true)
        }
        let isNamed = name.hasPrefix(Self.imports)
        return (isNamed ? String(name.dropFirst(Self.imports.count)) : name, false)
    }

    fileprivate var gapsOfRoot: ImportSteps.Gaps {
        isNoStack || self == .truncated || self == .timedInitializers ? .outermost : []
    }

    /// Whether it is the top-level code of a script.
    fileprivate var isModuleCode: Bool { name == "<module>" && isScripted }
}
