import ProfileModel

/// Expands the recording's stacks of addresses into lines of a ``PathTable``, each node once.
struct StackExpander {
    private let nodes: [StackTable.Node]
    private var expander: FrameExpander
    private(set) var paths = PathTable()
    private var loading = ModuleLoading()
    /// The line of each stack, by ``Variant``; ``unknown`` until it is asked for.
    private var known: [[Int32]]

    private var waitFrames: [Int32?: FrameID] = [:]
    /// Nodes that belong to the kernel's own work, by ``Variant``. They have the line of the code
    /// that it interrupted.
    private var unasked: [Set<Int>]

    private static let unknown: Int32 = -2

    /// The same stack may belong to complete and to truncated slices.
    private enum Variant: Int, CaseIterable {
        case complete
        /// Under the ``Function/truncated`` root.
        case truncated
    }

    init(_ recording: Recording) {
        nodes = recording.stacks.nodes
        expander = FrameExpander(modules: recording.modules, symbols: recording.symbols)
        let none = [Int32](repeating: Self.unknown, count: nodes.count)
        known = Variant.allCases.map { _ in none }
        unasked = Variant.allCases.map { _ in [] }
    }

    var frames: FrameTable { expander.table }

    /// The counts of the addresses expanded so far, by module.
    func addressCounts(modules: Int) -> [ModuleFigures.AddressCounts] {
        expander.addressCounts(modules: modules)
    }

    /// The line of a slice's stack; the "no stack" line if the table has no stack for it.
    mutating func line(of stack: StackID?, _ truncation: Truncation?) -> Int32 {
        guard let stack, nodes.indices.contains(Int(stack.rawValue)) else {
            return line(
                of: truncation == .notSampled ? .notSampled : .noStack,
                calledFrom: PathTable.none)
        }
        return expand(Int(stack.rawValue), as: truncation == nil ? .complete : .truncated)
    }

    /// The line of the frame that names the wait of a stack's thread.
    mutating func line(ofWaitIn systemCall: Int32?, calledFrom parent: Int32) -> Int32 {
        let frame = waitFrames[systemCall] ?? expander.frame(of: .wait(in: systemCall))
        waitFrames[systemCall] = frame
        return append(frame, to: parent)
    }

    mutating func line(of frame: FrameID, calledFrom parent: Int32) -> Int32 {
        append(frame, to: parent)
    }

    /// Stands for the unknown caller of an initialiser.
    mutating func lineOfTimedInitializers() -> Int32 {
        line(of: .timedInitializers, calledFrom: PathTable.none)
    }

    mutating func frame(of function: Function) -> FrameID { expander.frame(of: function) }

    /// The names of a line's innermost functions, innermost first.
    func innermostNames(ofLine line: Int32, most: Int) -> [String] {
        var names: [String] = []
        var line = line
        while line != PathTable.none, names.count < most {
            let entry = paths.lines[Int(line)]
            names.append(frames.function(of: paths.sites[Int(entry.site)].frame).name)
            line = entry.parent
        }
        return names
    }

    /// The module of a stack's outermost frame; nil where it has none.
    func outermostModule(of stack: StackID) -> ModuleIndex? {
        var position = Int(stack.rawValue)
        guard nodes.indices.contains(position) else { return nil }
        // A parent precedes its children.
        while let parent = nodes[position].parent, 0..<position ~= Int(parent.rawValue) {
            position = Int(parent.rawValue)
        }
        return nodes[position].frame.module
    }

    private mutating func line(of function: Function, calledFrom parent: Int32) -> Int32 {
        append(expander.frame(of: function), to: parent)
    }

    /// The physical function of a stack's innermost frame, without inlined functions; nil: the
    /// table does not hold the stack.
    mutating func innermostFunction(of stack: StackID) -> FrameID? {
        guard nodes.indices.contains(Int(stack.rawValue)) else { return nil }
        return expander.frames(of: nodes[Int(stack.rawValue)].frame).first
    }

    /// The frames of a stack, outermost first, including inlined ones; empty: the table does not
    /// hold the stack.
    mutating func frames(of stack: StackID) -> [FrameID] {
        guard nodes.indices.contains(Int(stack.rawValue)) else { return [] }
        var result: [FrameID] = []
        var current = Int(stack.rawValue)
        while true {
            result += expander.frames(of: nodes[current].frame).reversed()
            guard let parent = nodes[current].parent, parent.rawValue >= 0,
                parent.rawValue < current
            else { return result.reversed() }
            current = Int(parent.rawValue)
        }
    }

    /// Ends the building.
    mutating func seal() { paths.seal() }

    private mutating func expand(_ stack: Int, as variant: Variant) -> Int32 {
        // Outward to the first known caller, then inward again.
        var unexpanded: [Int] = []
        var line = PathTable.none
        var current = stack
        while true {
            let found = known[variant.rawValue][current]
            if found != Self.unknown {
                line = found
                break
            }
            unexpanded.append(current)
            // Callers precede callees; anything else is bad data that could make a cycle.
            guard let parent = nodes[current].parent, parent.rawValue >= 0,
                parent.rawValue < current
            else {
                if variant == .truncated {
                    line = self.line(of: .truncated, calledFrom: PathTable.none)
                }
                break
            }
            current = Int(parent.rawValue)
        }
        for node in unexpanded.reversed() {
            let frames = expander.frames(of: nodes[node].frame)
            if line != PathTable.none, isUnasked(node, frames, as: variant) {
                unasked[variant.rawValue].insert(node)
            } else {
                for frame in frames {
                    line = expander.knowsScripts ? load(frame, line) : show(frame, on: line)
                }
            }
            known[variant.rawValue][node] = line
        }
        return line
    }

    /// Whether a node belongs to the kernel's own work, or begins it.
    private func isUnasked(_ node: Int, _ frames: [FrameID], as variant: Variant) -> Bool {
        guard !expander.unasked.isEmpty else { return false }
        if let parent = nodes[node].parent, unasked[variant.rawValue].contains(Int(parent.rawValue))
        {
            return true
        }
        return frames.contains { expander.unasked.contains(expander.table[$0].function) }
    }

    /// Shows a Python function in place of the interpreter's own. A function that a map of
    /// trampolines names replaces the caller of its trampoline and the loop that the trampoline
    /// calls. A function that the recorder read itself replaces the trampoline.
    private mutating func show(_ frame: FrameID, on caller: Int32) -> Int32 {
        guard !expander.trampolines.isEmpty, caller != PathTable.none else {
            return append(frame, to: caller)
        }
        let (function, outer) = (expander.table[frame].function, paths.function(ofLine: caller))
        if expander.trampolines.contains(outer) {
            let inner = expander.table[function]
            // The loop runs only this function.
            if inner.isInterpreterLoop { return caller }
            if inner.isScripted, !expander.trampolines.contains(function) {
                return append(frame, to: paths.lines[Int(caller)].parent)
            }
        } else if expander.trampolines.contains(function),
            expander.table[outer].isTrampolineCaller
        {
            return append(frame, to: paths.lines[Int(caller)].parent)
        }
        return append(frame, to: caller)
    }

    /// Adds a frame, with a module's import in place of the functions that perform it.
    private mutating func load(_ frame: FrameID, _ parent: Int32) -> Int32 {
        let role = expander.role(of: frame)
        if let (importing, caller) = loading.importing(role, calledFrom: parent) {
            return append(frame, to: append(importing, to: caller))
        }
        let line = show(frame, on: parent)
        loading.note(line, role, calledFrom: parent)
        return line
    }

    private mutating func append(_ frame: FrameID, to parent: Int32) -> Int32 {
        paths.intern(
            parent: parent, frame: frame, function: expander.table[frame].function)
    }
}
