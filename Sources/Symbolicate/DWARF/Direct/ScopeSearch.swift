internal import CElfutils
internal import ELF

/// A function or an inlined call that has code.
struct FoundScope {
    /// The offset of its entry in `.debug_info`.
    var offset: Int
    /// The scope around it; -1 for none.
    var parent: Int32
    var isInlined: Bool
}

/// One pass over a unit's entries, in the order of the file. It finds the scopes that contain the
/// wanted addresses, and the containers.
///
/// Skipped entries are only measured, not read. So the parts of a unit without any wanted address
/// cost little.
struct ScopeSearch {
    /// How much of the unit is read.
    enum Extent {
        /// Skips functions that contain none of the addresses, with all their content. Also skips
        /// C++'s classes, which are most of a unit: their code is outside them. Skipped entries may
        /// contain methods of local classes, whose code is elsewhere, and declarations of functions
        /// that were inlined elsewhere: see ``Containers/passed``.
        case pruned
        /// Reads everything.
        case exhaustive
        /// Reads only the functions at these places, which a pruned pass found.
        case only(ContiguousArray<FunctionPlace>)
        /// Reads everything in the entry at this offset.
        case within(Int)
    }

    private(set) var scopes: ContiguousArray<FoundScope> = []
    /// All functions with code, except those inside a skipped function.
    private(set) var functions: ContiguousArray<FunctionPlace> = []
    private(set) var containers = Containers()
    private var scopeIntervals: [IntervalMap.Interval] = []
    private let isPruned: Bool
    private let passesClasses: Bool
    /// True if only some functions were read.
    private let isPartial: Bool
    private let unit: UnitReader
    private let sizes: FormSizes
    /// The start of the unit's header.
    private let start: Int
    private let table: AbbreviationTable
    private let wanted: WantedAddresses
    private let code: Range<UInt64>
    private var levels: ContiguousArray<Level> = []
    /// The number of entries around the place where the search began.
    private var outerLevels: Int32 = 0
    private var context = Context()
    /// True if the last entry read has ranges, but no code.
    private var lacksCode = false
    /// How many entries of range lists may still be read.
    private var budget = DwarfFile.rangeLimit

    /// A unit with more functions must be fabricated.
    static let mostFunctions = 1 << 18
    /// Real trees are about 30 deep.
    private static let deepest = 4096
    /// Attributes for each byte; real units have less than one.
    private static let mostForAByte = 16

    private struct Context {
        var scope: Int32 = -1
        var container: Int32 = -1
        /// True if no entry below is of interest.
        var isIdle = false
        /// True within a function that the linker has dropped. Calls that were inlined there have
        /// no code either, whatever their ranges look like: if these begin at 0, they may overlap
        /// another function. A function within it (a local class's method) has code of its own.
        var isDropped = false
    }

    private struct Level {
        var outer: Context
        /// The container that ends with this level; -1 for none.
        var container: Int32
    }

    init(
        _ unit: UnitReader, _ table: AbbreviationTable, _ wanted: WantedAddresses,
        code: Range<UInt64>, _ extent: Extent
    ) {
        (isPruned, isPartial) =
            switch extent {
            case .pruned: (true, false)
            case .only: (true, true)
            case .exhaustive, .within: (false, false)
            }
        passesClasses = isPruned && !isPartial && unit.isCPlusPlus
        self.unit = unit
        sizes = unit.header.sizes
        start = unit.header.start
        self.table = table
        self.wanted = wanted
        self.code = code
        switch extent {
        case .pruned, .exhaustive: search()
        case .only(let functions): search(functions)
        case .within(let offset): search(at: offset)
        }
    }

    /// Maps each wanted address to the innermost scope.
    func makeScopeMap() -> IntervalMap { IntervalMap(scopeIntervals) }

    /// True if addresses may be in functions that were not read.
    var hasPassedAnything: Bool { isPartial || !containers.passed.isEmpty }

    /// Whether the container at an offset is a namespace.
    func isNamespace(at offset: Int) -> Bool {
        var cursor = ByteCursor(unit.image.sections.info, at: offset, end: unit.header.end)
        return table[cursor.unsigned()].map { Int($0.tag) == DW_TAG_namespace } ?? false
    }

    // MARK: - The pass

    private mutating func search() {
        var cursor = ByteCursor(
            unit.image.sections.info, at: unit.header.firstEntry, end: unit.header.end)
        // The root is not a level: it ends with the unit.
        guard let root = table[cursor.unsigned()], root.hasChildren else { return }
        skipAttributes(of: root, &cursor)
        pass(&cursor, isForOne: false)
    }

    /// The functions that contain any of the addresses, each with its content.
    private mutating func search(_ functions: ContiguousArray<FunctionPlace>) {
        var last = -1
        for function in functions where function.offset != last && wanted.touch(function.range) {
            last = function.offset
            outerLevels = function.depth
            search(at: function.offset)
        }
    }

    private mutating func search(at offset: Int) {
        var cursor = ByteCursor(unit.image.sections.info, at: offset, end: unit.header.end)
        pass(&cursor, isForOne: true)
    }

    /// Visits all entries from the cursor on, or only one with its content.
    private mutating func pass(_ cursor: inout ByteCursor, isForOne: Bool) {
        var effort = 0
        let mostEffort = (cursor.end - cursor.position) * Self.mostForAByte + 1 << 20
        while !cursor.isAtEnd {
            let offset = cursor.position
            let number = cursor.unsigned()
            if number == 0 {
                guard let level = levels.popLast() else { break }
                close(level, end: offset)
            } else {
                guard let abbreviation = table[number] else { break }
                visit(abbreviation, offset, &cursor)
                effort &+= Int(abbreviation.specCount)
            }
            if cursor.isBroken || levels.count > Self.deepest || effort > mostEffort { break }
            if isForOne, levels.isEmpty { break }
        }
        while let level = levels.popLast() { close(level, end: cursor.position) }
    }

    @inline(__always)
    private mutating func visit(
        _ abbreviation: Abbreviation, _ offset: Int, _ cursor: inout ByteCursor
    ) {
        var below = context
        var container: Int32 = -1
        if abbreviation.role == .nothing || context.isIdle {
            if abbreviation.hasChildren, abbreviation.hasSibling {
                return skipChildren(of: abbreviation, &cursor)
            }
            skipAttributes(of: abbreviation, &cursor)
            below.isIdle = true
        } else {
            switch abbreviation.role {
            case .inlined where context.isDropped: skipAttributes(of: abbreviation, &cursor)
            case .function, .inlined:
                guard let scope = addScope(abbreviation, offset, &cursor) else { return }
                below.scope = scope
                if abbreviation.role == .function { below.isDropped = lacksCode }
            case .container where passesClasses && abbreviation.isClass:
                skipChildren(of: abbreviation, &cursor)
                return notePassed(offset, &cursor)
            case .container:
                skipAttributes(of: abbreviation, &cursor)
                container = addContainer(offset)
                if container >= 0 { below.container = container }
            case .block, .nothing:
                skipAttributes(of: abbreviation, &cursor)
            }
        }
        guard abbreviation.hasChildren else { return }
        levels.append(Level(outer: context, container: container))
        context = below
    }

    /// Closes a container: it reaches from its own entry to the one that ends its children.
    private mutating func close(_ level: Level, end: Int) {
        context = level.outer
        guard level.container >= 0 else { return }
        containers.all[Int(level.container)].end = end
    }

    @inline(__always)
    private func skipAttributes(of abbreviation: Abbreviation, _ cursor: inout ByteCursor) {
        if abbreviation.size >= 0 { return cursor.skip(Int(abbreviation.size)) }
        let first = Int(abbreviation.firstSpec)
        for index in first..<(first + Int(abbreviation.specCount)) {
            cursor.skip(table.specs[index], sizes)
        }
    }

    /// Jumps to the next sibling, if the entry's reference to it is valid.
    private func skipChildren(to sibling: AttributeValue, _ cursor: inout ByteCursor) {
        // A reference of this size is relative to the unit.
        let target =
            Int(sibling.form) == DW_FORM_ref4
            ? start + Int(truncatingIfNeeded: sibling.number & 0xFFFF_FFFF)
            : unit.target(sibling)?.offset ?? -1
        cursor.move(to: target > cursor.position ? target : -1)
    }

    private func skipChildren(of abbreviation: Abbreviation, _ cursor: inout ByteCursor) {
        var sibling = AttributeValue()
        let first = Int(abbreviation.firstSpec)
        for index in first..<(first + Int(abbreviation.specCount)) {
            let spec = table.specs[index]
            if Int(spec.name) == DW_AT_sibling {
                let isUsual = Int(spec.form) == DW_FORM_ref4
                sibling =
                    isUsual
                    ? AttributeValue(form: spec.form, number: UInt64(cursor.number(UInt32.self)))
                    : cursor.value(spec, sizes)
            } else {
                cursor.skip(spec, sizes)
            }
        }
        skipChildren(to: sibling, &cursor)
    }

    /// Sets ``lacksCode``.
    ///
    /// - Returns: the new scope; the surrounding one if the entry has no code; nil if its content
    ///   was skipped.
    private mutating func addScope(
        _ abbreviation: Abbreviation, _ offset: Int, _ cursor: inout ByteCursor
    ) -> Int32? {
        lacksCode = false
        var low = AttributeValue()
        var high = AttributeValue()
        var list = AttributeValue()
        var sibling = AttributeValue()
        let first = Int(abbreviation.firstSpec)
        for index in first..<(first + Int(abbreviation.specCount)) {
            let spec = table.specs[index]
            switch Int(spec.name) {
            case DW_AT_low_pc: low = cursor.value(spec, sizes)
            case DW_AT_high_pc: high = cursor.value(spec, sizes)
            case DW_AT_ranges: list = cursor.value(spec, sizes)
            case DW_AT_sibling: sibling = cursor.value(spec, sizes)
            default: cursor.skip(spec, sizes)
            }
        }
        guard low.isThere || list.isThere, scopes.count < DwarfFile.rangeLimit else {
            return context.scope
        }
        let isInlined = abbreviation.role == .inlined
        let before = scopeIntervals.count
        let scope = add(offset, isInlined, low: low, high: high, list: list)
        lacksCode = scope == context.scope
        guard isPruned, !isInlined, scopeIntervals.count == before, sibling.isThere,
            scope != context.scope, abbreviation.hasChildren
        else { return scope }
        skipChildren(to: sibling, &cursor)
        notePassed(offset, &cursor)
        return nil
    }

    private mutating func add(
        _ offset: Int, _ isInlined: Bool, low: AttributeValue, high: AttributeValue,
        list: AttributeValue
    ) -> Int32 {
        let number = Int32(truncatingIfNeeded: scopes.count)
        let depth = outerLevels &+ Int32(truncatingIfNeeded: levels.count)
        var hasCode = false
        var budget = budget
        unit.forEachRange(low: low, high: high, list: list, within: code, budget: &budget) {
            hasCode = true
            if !isInlined, functions.count < Self.mostFunctions {
                functions.append(FunctionPlace(range: $0, offset: offset, depth: depth))
            }
            guard wanted.touch($0) else { return }
            scopeIntervals.append(
                IntervalMap.Interval(
                    start: $0.lowerBound, end: $0.upperBound, depth: depth, value: number))
        }
        self.budget = budget
        guard hasCode else { return context.scope }
        scopes.append(FoundScope(offset: offset, parent: context.scope, isInlined: isInlined))
        return number
    }

    private mutating func notePassed(_ offset: Int, _ cursor: inout ByteCursor) {
        containers.passed.append(
            PassedEntry(
                range: offset..<max(offset, cursor.position), container: context.container))
    }

    private mutating func addContainer(_ offset: Int) -> Int32 {
        guard containers.all.count < DwarfFile.rangeLimit else { return -1 }
        containers.all.append(
            FoundContainer(offset: offset, end: offset, parent: context.container))
        return Int32(truncatingIfNeeded: containers.all.count - 1)
    }
}
