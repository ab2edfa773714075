internal import CElfutils
internal import Glibc

/// DWARF's description of one function at one address.
struct DwarfFrame {
    /// The readable name. nil if only the line is known.
    var function: String?
    /// The mangled name that the function's symbol should have; valid while the files live.
    var symbol: UnsafeRawBufferPointer?
    var file: String?
    var line: Int32?
    var isInlined: Bool
    /// True if its unit is known to be unoptimised.
    var isUnoptimized: Bool
}

/// The index of one compilation unit: which functions and which line are at an address.
///
/// libdw's own `dwarf_getscopes` walks the unit's tree on each call; this walks it once.
final class DwarfUnit {
    private var root: Dwarf_Die
    private let scopes: [DwarfScope]
    private let containers: [DwarfContainer]
    private let scopeMap: IntervalMap
    private let containerMap: IntervalMap
    private let names: NameCache
    private var functions: [Int32: String?] = [:]
    /// The unit's table of source files, and its size; nil if there is none.
    private let files: (table: OpaquePointer, count: Int)?

    /// The folder in which the compiler was run; nil if it is unknown or relative.
    private let folder: String?
    private let isUnoptimized: Bool

    /// Deeper inlining must be fabricated.
    private static let deepest = 1024

    init(_ unit: UnitRoot, code: Range<UInt64>, names: NameCache) {
        let tree = ScopeTree(of: unit.tree, code: code)
        root = unit.root
        scopes = tree.scopes
        containers = tree.containers
        scopeMap = tree.makeScopeMap()
        containerMap = tree.makeContainerMap()
        self.names = names
        let folder = unit.root.text(DW_AT_comp_dir).map { String(cString: $0) }
        self.folder = folder.flatMap { $0.hasPrefix("/") ? $0 : nil }
        isUnoptimized = ProducerText(of: unit)?.isUnoptimized ?? false
        files = Self.sourceFiles(of: unit.tree) ?? Self.sourceFiles(of: unit.root)
    }

    /// The frames, outermost first; one frame without a function if the unit has only lines. The
    /// innermost frame's position comes from the line table. Every other frame's position is the
    /// place of the inlined call inside it.
    func frames(at address: UInt64) -> [DwarfFrame] {
        var position = line(at: address)
        var result: [DwarfFrame] = []
        var current = scopeMap[address] ?? -1
        while current >= 0, result.count < Self.deepest {
            let scope = scopes[Int(current)]
            result.append(
                DwarfFrame(
                    function: function(current),
                    symbol: scope.isInlined ? nil : Self.symbol(of: scope.entry),
                    file: position.file, line: position.line, isInlined: scope.isInlined,
                    isUnoptimized: isUnoptimized))
            guard scope.isInlined else { return result.reversed() }
            position = callSite(of: scope.entry)
            current = scope.parent
        }
        // There is no scope (assembler), or the inlined call belongs to no function's tree.
        let (file, line) = position
        result.append(
            DwarfFrame(
                function: nil, symbol: nil, file: file, line: line, isInlined: false,
                isUnoptimized: isUnoptimized))
        return result.reversed()
    }

    // MARK: - Lines

    private typealias Position = (file: String?, line: Int32?)

    private func line(at address: UInt64) -> Position {
        guard let row = dwarf_getsrc_die(&root, address) else { return (nil, nil) }
        var number: Int32 = 0
        let hasNumber = dwarf_lineno(row, &number) == 0 && number > 0
        let file = dwarf_linesrc(row, nil, nil).flatMap(path)
        return (file, hasNumber && file != nil ? number : nil)
    }

    private func callSite(of entry: Dwarf_Die) -> Position {
        let line = entry.number(DW_AT_call_line).flatMap { Int32(exactly: $0) }
        let file = callFile(of: entry)
        return (file, file == nil ? nil : line.flatMap { $0 > 0 ? $0 : nil })
    }

    private func callFile(of entry: Dwarf_Die) -> String? {
        guard let files, let index = entry.number(DW_AT_call_file), index < UInt64(files.count)
        else { return nil }
        return dwarf_filesrc(files.table, Int(index), nil, nil).flatMap(path)
    }

    /// A path of the line table; nil if it is no file (`<compiler-generated>`). libdw does not join
    /// DWARF 5's paths to the unit's folder.
    private func path(_ text: UnsafePointer<CChar>) -> String? {
        let path = names.text(text)
        if path.hasSuffix(">"), path.hasPrefix("<") || path.contains("/<") { return nil }
        guard !path.hasPrefix("/"), let folder else { return path }
        return "\(folder)/\(path.hasPrefix("./") ? path.dropFirst(2) : path[...])"
    }

    private static func sourceFiles(of root: Dwarf_Die) -> (table: OpaquePointer, count: Int)? {
        var die = root
        var table: OpaquePointer?
        var count = 0
        guard dwarf_getsrcfiles(&die, &table, &count) == 0, let table else { return nil }
        return (table, count)
    }

    // MARK: - Names

    private func function(_ scope: Int32) -> String? {
        if let known = functions[scope] { return known }
        let name = makeName(of: scopes[Int(scope)].entry)
        functions[scope] = .some(name)
        return name
    }

    private static func symbol(of entry: Dwarf_Die) -> UnsafeRawBufferPointer? {
        if let linkageName = entry.linkageName { return linkageName }
        return entry.text(DW_AT_name).map { start in
            UnsafeRawBufferPointer(start: start, count: strlen(start))
        }
    }

    private func makeName(of entry: Dwarf_Die) -> String? {
        if let linkageName = entry.linkageName { return names.readable(linkageName) }
        guard let plain = entry.text(DW_AT_name) else { return nil }
        if let decoded = names.decoded(String(cString: plain)) { return decoded }
        // Compilers omit the linkage name of functions that other files cannot refer to (C++'s
        // static functions and anonymous namespaces). The place in the tree gives the rest of the
        // name.
        let qualifiers = self.qualifiers(of: entry.declaration)
        let name = (qualifiers + [String(cString: plain)]).joined(separator: "::")
        return Demangler.bounded(name)
    }

    /// The names of the namespaces and classes around a declaration, outermost first; empty if it
    /// is in another unit.
    private func qualifiers(of declaration: Dwarf_Die) -> [String] {
        var result: [String] = []
        var current = containerMap[UInt64(declaration.position)] ?? -1
        while current >= 0, result.count < 64 {
            let container = containers[Int(current)]
            if let name = container.entry.text(DW_AT_name) {
                result.append(String(cString: name))
            } else if container.entry.tag == DW_TAG_namespace {
                result.append("(anonymous namespace)")
            }
            current = container.parent
        }
        return result.reversed()
    }
}
