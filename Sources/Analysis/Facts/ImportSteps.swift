import ProfileModel

/// The imports that each stack is in: a tree of imports alone, whatever functions lie between them.
struct ImportSteps {
    static let none = PathTable.none

    struct Step {
        var parent: Int32
        var depth: Int
        var name: String
        var isAwaited: Bool
        var file: String?
    }

    private(set) var steps: [Step] = []
    /// By path, the innermost step that it is in.
    private var innermost: [Int32] = []
    /// Paths whose outermost frames are missing, or all.
    private var lacksOutermost: [Bool] = []

    private struct Key: Hashable {
        var parent: Int32
        var function: FunctionID
    }

    var isEmpty: Bool { steps.isEmpty }

    init(_ table: PathTable, _ frames: FrameTable) {
        guard frames.functions.contains(where: \.isImport) else { return }
        var known: [Key: Int32] = [:]
        for path in table.paths {
            let function = frames[path.function]
            let isRoot = path.parent == PathTable.none
            var step = isRoot ? Self.none : innermost[Int(path.parent)]
            lacksOutermost.append(
                isRoot ? function.isNoStack || function == .truncated
                    : lacksOutermost[Int(path.parent)])
            if function.isImport {
                step = place(of: Key(parent: step, function: path.function), function, &known)
            }
            innermost.append(step)
        }
        findFiles(table, frames)
    }

    private mutating func place(
        of key: Key, _ function: Function, _ known: inout [Key: Int32]
    ) -> Int32 {
        if let place = known[key] { return place }
        let place = Int32(truncatingIfNeeded: steps.count)
        let depth = key.parent == Self.none ? 0 : steps[Int(key.parent)].depth + 1
        let (name, isAwaited) = function.importedModule
        steps.append(Step(parent: key.parent, depth: depth, name: name, isAwaited: isAwaited))
        known[key] = place
        return place
    }

    /// A module's code is what its import calls.
    private mutating func findFiles(_ table: PathTable, _ frames: FrameTable) {
        for site in table.sites {
            let path = table.paths[Int(site.path)]
            guard path.parent != PathTable.none,
                frames[table.paths[Int(path.parent)].function].isImport,
                frames[path.function].isModuleCode
            else { continue }
            let step = Int(innermost[Int(site.path)])
            steps[step].file = steps[step].file ?? frames[site.frame].file
        }
    }

    /// The innermost step of a stack, and whether there may be others outside of all that are seen.
    func step(ofPath path: Int32) -> (step: Int32, lacksOutermost: Bool) {
        (innermost[Int(path)], lacksOutermost[Int(path)])
    }

    /// Whether two steps are imports of modules that are called the same.
    func areAlike(_ left: Int32, _ right: Int32) -> Bool {
        let (first, second) = (steps[Int(left)], steps[Int(right)])
        return first.name == second.name && first.isAwaited == second.isAwaited
    }

    /// From the outermost to a step.
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
    /// What the names of steps begin with.
    static let imports = "import "
    static let awaits = "waiting for import of "

    /// What the step of an import is of.
    fileprivate var importedModule: (name: String, isAwaited: Bool) {
        if name.hasPrefix(Self.awaits) {
            return (String(name.dropFirst(Self.awaits.count)), true)
        }
        let isNamed = name.hasPrefix(Self.imports)
        return (isNamed ? String(name.dropFirst(Self.imports.count)) : name, false)
    }

    /// Whether it is the code of a whole script.
    fileprivate var isModuleCode: Bool { name == "<module>" && isScripted }
}
