import Analysis
import ProfileModel

/// The list that all threads share: only modules that one of their resources refers to.
struct FirefoxLibraries {
    /// Positions in the profile's list.
    private(set) var modules: [Int] = []
    private var positions: [Int: Int] = [:]

    /// A module's position in this list.
    mutating func callAsFunction(_ module: Int) -> Int {
        if let known = positions[module] { return known }
        positions[module] = modules.count
        modules.append(module)
        return modules.count - 1
    }
}

/// A thread's tables of stacks, frames, functions, resources and strings: only those that its
/// samples need.
struct FirefoxTables {
    var strings = StringTable()
    private let source: FrameTable
    private let nodes: [StackNode]
    private var stacks: [(prefix: Int?, frame: Int, category: FirefoxCategory)] = []
    private var stackIDs: [Stack: Int] = [:]
    private var frames: [(function: Int, line: Int32?, depth: Int, category: FirefoxCategory)] = []
    private var frameIDs: [Int32: Int] = [:]
    private var functions: [(name: Int, resource: Int, file: Int?, isJavaScript: Bool)] = []
    private var functionIDs: [Int32: Int] = [:]
    private var resources: [(name: Int, module: Int)] = []
    private var resourceIDs: [String: Int] = [:]

    private struct Stack: Hashable {
        var node: Int
        var category: FirefoxCategory?
    }

    init(_ source: FrameTable, _ nodes: [StackNode]) {
        self.source = source
        self.nodes = nodes
    }

    /// - Parameter leafCategory: for the innermost frame; nil: the category of its code.
    mutating func stack(_ node: Int, leafCategory: FirefoxCategory?) -> Int {
        // Outermost first, without recursion, since stacks may be deep.
        var path: [Int] = []
        var current: Int? = node
        while let next = current {
            path.append(next)
            current = nodes[next].parent
        }
        var prefix: Int?
        for (position, node) in path.reversed().enumerated() {
            let isLeaf = position == path.count - 1
            prefix = stack(Stack(node: node, category: isLeaf ? leafCategory : nil), on: prefix)
        }
        return prefix ?? 0
    }

    private mutating func stack(_ stack: Stack, on prefix: Int?) -> Int {
        if let known = stackIDs[stack] { return known }
        let id = nodes[stack.node].frame
        let category = stack.category ?? FirefoxCategory(of: source.function(of: id))
        let entry = (prefix, frame(id), category)
        stackIDs[stack] = stacks.count
        stacks.append(entry)
        return stacks.count - 1
    }

    private mutating func frame(_ id: FrameID) -> Int {
        if let known = frameIDs[id.rawValue] { return known }
        let frame = source[id]
        let entry = (
            function(frame.function, frame.file), frame.line, frame.isInlined ? 1 : 0,
            FirefoxCategory(of: source[frame.function])
        )
        frameIDs[id.rawValue] = frames.count
        frames.append(entry)
        return frames.count - 1
    }

    private mutating func function(_ id: FunctionID, _ file: String?) -> Int {
        if let known = functionIDs[id.rawValue] { return known }
        let function = source[id]
        let resource = resource(function)
        functionIDs[id.rawValue] = functions.count
        functions.append(
            (
                strings(function.name), resource, file.map { strings($0) },
                function.language == .javaScript
            ))
        return functions.count - 1
    }

    /// -1: none.
    private mutating func resource(_ function: Function) -> Int {
        guard let module = function.moduleIndex else { return -1 }
        if let known = resourceIDs[function.module] { return known }
        resourceIDs[function.module] = resources.count
        resources.append((strings(function.module), module.rawValue))
        return resources.count - 1
    }

    // MARK: Writing

    func write(_ libraries: inout FirefoxLibraries, _ writer: inout JSONWriter) {
        table("stackTable", stacks.count, &writer) { writer in
            column("prefix", stacks.map(\.prefix), &writer)
            column("frame", stacks.map(\.frame), &writer)
            column("category", stacks.map(\.category.kind.rawValue), &writer)
            column("subcategory", stacks.map(\.category.subcategory), &writer)
        }
        table("frameTable", frames.count, &writer) { writer in
            // -1 means no address.
            column("address", frames.map { _ in -1 }, &writer)
            column("inlineDepth", frames.map(\.depth), &writer)
            column("func", frames.map(\.function), &writer)
            column("line", frames.map { $0.line.map { Int($0) } }, &writer)
            column("category", frames.map(\.category.kind.rawValue), &writer)
            column("subcategory", frames.map(\.category.subcategory), &writer)
            let empty = frames.map { _ in Int?.none }
            for name in ["nativeSymbol", "innerWindowID", "implementation", "column"] {
                column(name, empty, &writer)
            }
        }
        table("funcTable", functions.count, &writer) { writer in
            column("name", functions.map(\.name), &writer)
            column("resource", functions.map(\.resource), &writer)
            column("fileName", functions.map(\.file), &writer)
            let empty = functions.map { _ in Int?.none }
            for name in ["lineNumber", "columnNumber"] { column(name, empty, &writer) }
            // The viewer's filter for JavaScript stacks keeps these.
            writer.key("isJS")
            writer.array(functions) { writer, function in writer.value(function.isJavaScript) }
            writer.key("relevantForJS")
            writer.array(functions) { writer, _ in writer.value(false) }
        }
        table("resourceTable", resources.count, &writer) { writer in
            column("name", resources.map(\.name), &writer)
            column("lib", resources.map { libraries($0.module) }, &writer)
            column("host", resources.map { _ in Int?.none }, &writer)
            // 1 is a library.
            column("type", resources.map { _ in 1 }, &writer)
        }
        table("nativeSymbols", 0, &writer) { writer in
            for name in ["address", "functionSize", "libIndex", "name"] {
                column(name, [Int](), &writer)
            }
        }
        writer.key("stringArray")
        writer.array(strings.list) { $0.value($1) }
    }

    private func table(
        _ name: String, _ length: Int, _ writer: inout JSONWriter,
        _ body: (inout JSONWriter) -> Void
    ) {
        writer.key(name)
        writer.object {
            $0.field("length", length)
            body(&$0)
        }
    }

    private func column(_ name: String, _ values: [Int], _ writer: inout JSONWriter) {
        writer.key(name)
        writer.array(values) { $0.value($1) }
    }

    private func column(_ name: String, _ values: [Int?], _ writer: inout JSONWriter) {
        writer.key(name)
        writer.array(values) { $0.value($1) }
    }
}
