internal import CElfutils

/// A function or an inlined call that has code, in a unit's tree.
struct DwarfScope {
    var entry: Dwarf_Die
    /// The scope around it; -1 for none.
    var parent: Int32
    var isInlined: Bool
}

/// A namespace, class or module: it gives its members a qualified name.
struct DwarfContainer {
    var entry: Dwarf_Die
    /// The container around it; -1 for none.
    var parent: Int32
}

/// One walk over a unit's tree. It finds the scopes with their address intervals, and the
/// containers with the intervals of their entries' positions.
struct ScopeTree {
    private(set) var scopes: [DwarfScope] = []
    private(set) var containers: [DwarfContainer] = []
    private var scopeIntervals: [IntervalMap.Interval] = []
    private var containerIntervals: [IntervalMap.Interval] = []
    private let code: Range<UInt64>

    /// Real trees are about 30 deep.
    private static let deepest = 512

    /// One entry on the path from the root to the visited entry.
    private struct Level {
        var entry: Dwarf_Die
        var context: Context
        /// The container that this entry is; -1 if it is none.
        var container: Int32
    }

    private struct Context {
        var scope: Int32 = -1
        var container: Int32 = -1
        var depth: Int32 = 0
        /// As in ``ScopeSearch``: within a function that the linker has dropped.
        var isDropped = false
    }

    init(of root: Dwarf_Die, code: Range<UInt64>) {
        self.code = code
        walk(root)
    }

    /// Maps an address to the innermost scope.
    func makeScopeMap() -> IntervalMap { IntervalMap(scopeIntervals) }

    /// Maps an entry, by ``Dwarf_Die/position``, to the innermost container around it.
    func makeContainerMap() -> IntervalMap { IntervalMap(containerIntervals) }

    // MARK: - The walk

    private mutating func walk(_ root: Dwarf_Die) {
        guard var current = root.firstChild else { return }
        var levels: [Level] = []
        var context = Context()
        var last = root.position
        while true {
            // A damaged tree that leads back would never end.
            guard current.position > last else { break }
            last = current.position
            let below = visit(current, in: context)
            if let below, levels.count < Self.deepest, let child = current.firstChild {
                let isContainer = below.container != context.container
                levels.append(
                    Level(
                        entry: current, context: context,
                        container: isContainer ? below.container : -1))
                context = below
                current = child
                continue
            }
            guard let next = nextEntry(after: current, &levels, &context, last: last) else { break }
            current = next
        }
        while let level = levels.popLast() { close(level, last: last) }
    }

    /// The next sibling of `entry`, or else of the closest entry above it that has one.
    private mutating func nextEntry(
        after entry: Dwarf_Die, _ levels: inout [Level], _ context: inout Context, last: UInt
    ) -> Dwarf_Die? {
        var current = entry
        while true {
            if let sibling = current.nextSibling { return sibling }
            guard let level = levels.popLast() else { return nil }
            close(level, last: last)
            context = level.context
            current = level.entry
        }
    }

    /// Closes a container: it reaches from its own entry to the last one visited.
    private mutating func close(_ level: Level, last: UInt) {
        guard level.container >= 0 else { return }
        containerIntervals.append(
            IntervalMap.Interval(
                start: UInt64(level.entry.position), end: UInt64(last) &+ 1,
                depth: level.context.depth, value: level.container))
    }

    /// Records an entry.
    /// - Returns: the context of its children; nil if they are of no interest.
    private mutating func visit(_ entry: Dwarf_Die, in context: Context) -> Context? {
        var below = context
        below.depth += 1
        switch entry.tag {
        case DW_TAG_subprogram:
            guard !entry.has(DW_AT_declaration) else { return nil }
            below.scope = addScope(entry, isInlined: false, in: context)
            below.isDropped =
                below.scope == context.scope && (entry.has(DW_AT_low_pc) || entry.has(DW_AT_ranges))
        case DW_TAG_inlined_subroutine where context.isDropped: break
        case DW_TAG_inlined_subroutine:
            below.scope = addScope(entry, isInlined: true, in: context)
        case DW_TAG_lexical_block, DW_TAG_try_block, DW_TAG_catch_block, DW_TAG_with_stmt:
            break
        case DW_TAG_namespace, DW_TAG_module, DW_TAG_class_type, DW_TAG_structure_type,
            DW_TAG_union_type, DW_TAG_interface_type:
            below.container = addContainer(entry, in: context)
        default:
            return nil
        }
        return below
    }

    /// - Returns: the new scope, or the surrounding one if the entry has no code.
    private mutating func addScope(
        _ entry: Dwarf_Die, isInlined: Bool, in context: Context
    ) -> Int32 {
        let limit = DwarfFile.rangeLimit - scopeIntervals.count
        guard limit > 0 else { return context.scope }
        let ranges = entry.ranges(within: code, limit: limit)
        guard !ranges.isEmpty else { return context.scope }
        let number = Int32(scopes.count)
        scopes.append(DwarfScope(entry: entry, parent: context.scope, isInlined: isInlined))
        for range in ranges {
            scopeIntervals.append(
                IntervalMap.Interval(
                    start: range.lowerBound, end: range.upperBound, depth: context.depth,
                    value: number))
        }
        return number
    }

    private mutating func addContainer(_ entry: Dwarf_Die, in context: Context) -> Int32 {
        guard containers.count < DwarfFile.rangeLimit else { return context.container }
        containers.append(DwarfContainer(entry: entry, parent: context.container))
        return Int32(containers.count - 1)
    }
}
