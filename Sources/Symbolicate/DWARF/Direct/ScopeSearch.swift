internal import CElfutils

/// A function or an inlined call that has code.
struct FoundScope {
    /// Of its entry, in `.debug_info`.
    var offset: Int
    /// The scope around it; -1 for none.
    var parent: Int32
    var isInlined: Bool
}

/// Something that gives what is declared in it a qualified name: a namespace, class or module.
struct FoundContainer {
    var offset: Int
    /// The container around it; -1 for none.
    var parent: Int32
}

/// One pass over a unit's entries, in the order of the file: which scopes hold the addresses that
/// are asked about, and the containers.
///
/// What is passed over is only measured, not read: that is why it does not matter much how much of
/// a unit nobody asked about.
struct ScopeSearch {
    enum Care {
        /// Functions that hold none of the addresses are passed over with all that is in them.
        /// The methods of their local classes may be in there, whose code is elsewhere, and the
        /// declarations of what was inlined elsewhere: see ``ScopeSearch/hasPassed(_:)``.
        case quick
        /// Everything is looked at.
        case thorough
    }

    private(set) var scopes: ContiguousArray<FoundScope> = []
    private(set) var containers: ContiguousArray<FoundContainer> = []
    private var scopeIntervals: [IntervalMap.Interval] = []
    private var containerIntervals: [IntervalMap.Interval] = []
    /// Offsets of what was passed over, ascending.
    private var passed: ContiguousArray<Range<Int>> = []
    private let care: Care
    private let unit: UnitReader
    private let sizes: FormSizes
    /// Of the unit's header.
    private let start: Int
    private let table: AbbreviationTable
    private let wanted: WantedAddresses
    private let code: Range<UInt64>
    private var levels: ContiguousArray<Level> = []
    private var context = Context()
    /// Entries of range lists that may still be read.
    private var budget = DwarfFile.rangeLimit

    /// Real trees are about 30 deep.
    private static let deepest = 4096
    /// Attributes; in real units there is less than one for a byte.
    private static let mostForAByte = 16

    private struct Context {
        var scope: Int32 = -1
        var container: Int32 = -1
        /// Whether nothing below is of interest.
        var isIdle = false
    }

    private struct Level {
        var outer: Context
        /// The container that ends with this level; -1 for none.
        var container: Int32
    }

    init(
        _ unit: UnitReader, _ table: AbbreviationTable, _ wanted: WantedAddresses,
        code: Range<UInt64>, _ care: Care
    ) {
        self.care = care
        self.unit = unit
        sizes = unit.header.sizes
        start = unit.header.start
        self.table = table
        self.wanted = wanted
        self.code = code
        search()
    }

    /// Which scope is the innermost at each of the addresses that are asked about.
    func makeScopeMap() -> IntervalMap { IntervalMap(scopeIntervals) }

    /// Which container is the innermost around an entry, by its offset.
    func makeContainerMap() -> IntervalMap { IntervalMap(containerIntervals) }

    var hasPassedAnything: Bool { !passed.isEmpty }

    /// Whether an offset lies in what was passed over.
    func hasPassed(_ offset: Int) -> Bool {
        var (low, high) = (0, passed.count)
        while low < high {
            let middle = (low + high) / 2
            if passed[middle].lowerBound <= offset { low = middle + 1 } else { high = middle }
        }
        return low > 0 && passed[low - 1].contains(offset)
    }

    /// Whether the container at an offset is a namespace.
    func isNamespace(at offset: Int) -> Bool {
        var cursor = ByteCursor(unit.image.info, at: offset, end: unit.header.end)
        return table[cursor.unsigned()].map { Int($0.tag) == DW_TAG_namespace } ?? false
    }

    // MARK: - The pass

    private mutating func search() {
        var cursor = ByteCursor(
            unit.image.info, at: unit.header.firstEntry, end: unit.header.end)
        // The root is no level: its end is the unit's.
        guard let root = table[cursor.unsigned()], root.hasChildren else { return }
        skipAttributes(of: root, &cursor)
        var effort = 0
        let mostEffort = (cursor.end - cursor.position) * Self.mostForAByte + 1 << 20
        while !cursor.isAtEnd {
            let offset = cursor.position
            let number = cursor.unsigned()
            if number == 0 {
                guard let level = levels.popLast() else { break }
                close(level, end: offset)
                continue
            }
            guard let abbreviation = table[number] else { break }
            visit(abbreviation, offset, &cursor)
            effort &+= Int(abbreviation.specCount)
            if cursor.isBroken || levels.count > Self.deepest || effort > mostEffort { break }
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
            case .function, .inlined:
                guard let scope = addScope(abbreviation, offset, &cursor) else { return }
                below.scope = scope
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

    /// A container's entries reach from its own to the one that ends its children.
    private mutating func close(_ level: Level, end: Int) {
        context = level.outer
        guard level.container >= 0 else { return }
        containerIntervals.append(
            IntervalMap.Interval(
                start: UInt64(containers[Int(level.container)].offset), end: UInt64(end),
                value: level.container))
    }

    @inline(__always)
    private func skipAttributes(of abbreviation: Abbreviation, _ cursor: inout ByteCursor) {
        if abbreviation.size >= 0 { return cursor.skip(Int(abbreviation.size)) }
        let first = Int(abbreviation.firstSpec)
        for index in first..<(first + Int(abbreviation.specCount)) {
            cursor.skip(table.specs[index], sizes)
        }
    }

    /// To the entry beside this one, if it says truly where that is.
    private func skipChildren(to sibling: AttributeValue, _ cursor: inout ByteCursor) {
        // Within the unit, as all references are that are of this size.
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

    /// - Returns: the new scope; the one around it when the entry has no code; nil when all that is
    ///   in it was passed over.
    private mutating func addScope(
        _ abbreviation: Abbreviation, _ offset: Int, _ cursor: inout ByteCursor
    ) -> Int32? {
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
        guard care == .quick, !isInlined, scopeIntervals.count == before, sibling.isThere,
            scope != context.scope, abbreviation.hasChildren
        else { return scope }
        skipChildren(to: sibling, &cursor)
        passed.append(offset..<max(offset, cursor.position))
        return nil
    }

    private mutating func add(
        _ offset: Int, _ isInlined: Bool, low: AttributeValue, high: AttributeValue,
        list: AttributeValue
    ) -> Int32 {
        let number = Int32(truncatingIfNeeded: scopes.count)
        let depth = Int32(truncatingIfNeeded: levels.count)
        var hasCode = false
        var budget = budget
        unit.forEachRange(low: low, high: high, list: list, within: code, budget: &budget) {
            hasCode = true
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

    private mutating func addContainer(_ offset: Int) -> Int32 {
        guard containers.count < DwarfFile.rangeLimit else { return -1 }
        containers.append(FoundContainer(offset: offset, parent: context.container))
        return Int32(truncatingIfNeeded: containers.count - 1)
    }
}
