internal import CElfutils
internal import Glibc

/// What DWARF says of one function at one address.
struct DwarfFrame {
    /// Readable. nil where only the line is known.
    var function: String?
    /// What the function's symbol should be called, mangled; valid while the files live.
    var symbol: UnsafeRawBufferPointer?
    var file: String?
    var line: Int32?
    var isInlined: Bool
    /// Whether its unit is known not to be optimised.
    var isUnoptimized: Bool
}

/// The index of one compilation unit: which functions are at an address, and which line.
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
    /// The unit's table of source files, of this size; nil without one.
    private let files: (table: OpaquePointer, count: Int)?

    /// Where the compiler was run; nil if that is not known, or not an absolute path.
    private let folder: String?
    private let isUnoptimized: Bool

    /// Inlining deeper than this is made up.
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

    /// Outermost first; one without a function where the unit has only lines. Each frame's
    /// position is the one inside it: the line table's in the innermost, the place of the
    /// inlined call in the others.
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
        // No scope at all (assembler), or an inlined call that lies in no function's tree.
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

    /// A path of the line table's; nil for what is no file (`<compiler-generated>`). libdw does
    /// not join those of DWARF 5 to the unit's folder.
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
        // Compilers leave the linkage name out for what other files cannot name (C++'s static
        // functions and anonymous namespaces): the place in the tree gives the rest.
        let qualifiers = self.qualifiers(of: entry.declaration)
        let name = (qualifiers + [String(cString: plain)]).joined(separator: "::")
        return Demangler.bounded(name)
    }

    /// The names of the namespaces and classes around a declaration, outermost first; empty when
    /// it is of another unit.
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
