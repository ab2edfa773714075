/// All stacks of a recording as trees over integers, in two grains:
///
/// - a *line* is a stack whose frames differ by source line; slices point at lines;
/// - a *path* is a stack whose frames differ only by function; call trees show paths.
///
/// A *site* is one frame of a path (a line of a function). The heaviest site of a path gives the
/// line that is shown for it. Callers precede callees in every list.
struct PathTable: Sendable {
    /// Stands for "no caller" and "no stack".
    static let none: Int32 = -1

    struct Line: Sendable {
        var parent: Int32
        var site: Int32
    }
    struct Site: Sendable {
        var path: Int32
        var frame: FrameID
    }
    struct Path: Sendable {
        var parent: Int32
        var function: FunctionID
    }

    private(set) var lines: [Line] = []
    private(set) var sites: [Site] = []
    private(set) var paths: [Path] = []
    private var lineIDs = PairMap()
    private var siteIDs = PairMap()
    private var pathIDs = PairMap()

    func path(ofLine line: Int32) -> Int32 { sites[Int(lines[Int(line)].site)].path }

    func function(ofLine line: Int32) -> FunctionID { paths[Int(path(ofLine: line))].function }

    /// The line of `frame` called from `parent`, which is a line of this table or ``none``.
    mutating func intern(parent: Int32, frame: FrameID, function: FunctionID) -> Int32 {
        let next = Int32(truncatingIfNeeded: lines.count)
        let id = lineIDs.value(of: parent, frame.rawValue, orInsert: next)
        if id.isNew {
            let caller = parent == Self.none ? Self.none : path(ofLine: parent)
            let path = internPath(parent: caller, function: function)
            lines.append(Line(parent: parent, site: internSite(path: path, frame: frame)))
        }
        return id.value
    }

    /// Ends the building: frees the tables that only building needs.
    mutating func seal() {
        lineIDs = PairMap()
        siteIDs = PairMap()
        pathIDs = PairMap()
    }

    private mutating func internPath(parent: Int32, function: FunctionID) -> Int32 {
        let next = Int32(truncatingIfNeeded: paths.count)
        let id = pathIDs.value(of: parent, function.rawValue, orInsert: next)
        if id.isNew { paths.append(Path(parent: parent, function: function)) }
        return id.value
    }

    private mutating func internSite(path: Int32, frame: FrameID) -> Int32 {
        let next = Int32(truncatingIfNeeded: sites.count)
        let id = siteIDs.value(of: path, frame.rawValue, orInsert: next)
        if id.isNew { sites.append(Site(path: path, frame: frame)) }
        return id.value
    }
}

extension PathTable {
    /// For each path, whether no caller on it has the same key. Totals over only such paths count
    /// recursion once.
    ///
    /// - Parameter key: of a path, in `0 ..< count`.
    func outermostOccurrences(count: Int, key: (Path) -> Int) -> [Bool] {
        let children = ChildLists(parents: paths.lazy.map(\.parent))
        var result = [Bool](repeating: false, count: paths.count)
        var depths = [Int](repeating: 0, count: count)
        // Each path is visited twice: on the way in, and (as its complement) on the way out.
        var pending = Array(children.roots)
        while let next = pending.popLast() {
            if next < 0 {
                depths[key(paths[Int(~next)])] -= 1
                continue
            }
            let own = key(paths[Int(next)])
            result[Int(next)] = depths[own] == 0
            depths[own] += 1
            pending.append(~next)
            pending.append(contentsOf: children[next])
        }
        return result
    }
}

/// The children of every node of a forest, from the list of its parents.
struct ChildLists {
    private var starts: [Int32]
    private var nodes: [Int32]

    /// - Parameter parents: of each node in order; ``PathTable/none`` for a root.
    init(parents: some Collection<Int32>) {
        // Counting sort; list 0 holds the roots.
        starts = [Int32](repeating: 0, count: parents.count + 2)
        for parent in parents { starts[Int(parent) + 2] += 1 }
        for list in starts.indices.dropFirst() { starts[list] += starts[list - 1] }
        nodes = [Int32](repeating: 0, count: parents.count)
        var next = starts
        for (node, parent) in parents.enumerated() {
            nodes[Int(next[Int(parent) + 1])] = Int32(truncatingIfNeeded: node)
            next[Int(parent) + 1] += 1
        }
    }

    var roots: ArraySlice<Int32> { list(0) }
    subscript(node: Int32) -> ArraySlice<Int32> { list(Int(node) + 1) }

    private func list(_ index: Int) -> ArraySlice<Int32> {
        nodes[Int(starts[index])..<Int(starts[index + 1])]
    }
}

/// A hash table from pairs of small integers to list positions, for building trees: with
/// `Dictionary`, hashing alone took a third of a profile's building time.
///
/// Open addressing with linear probing. The hash is not seeded: keys are positions in our own
/// lists, which the input does not choose, and the same recording takes the same time.
struct PairMap: Sendable {
    private struct Slot {
        var first: Int32
        var second: Int32
        var value: Int32
    }

    private static let empty = Slot(first: 0, second: 0, value: -1)
    /// A power of two long, and at most half full.
    private var slots = [Slot](repeating: empty, count: 64)
    private var count = 0

    /// The value of a pair. A pair without a value gets `new`; the result also says whether it did.
    ///
    /// - Parameter new: not negative.
    mutating func value(
        of first: Int32, _ second: Int32, orInsert new: Int32
    ) -> (value: Int32, isNew: Bool) {
        let place = place(of: first, second)
        if slots[place].value >= 0 { return (slots[place].value, false) }
        slots[place] = Slot(first: first, second: second, value: new)
        count += 1
        if count * 2 > slots.count { grow() }
        return (new, true)
    }

    /// The slot of the pair, or the slot for it.
    private func place(of first: Int32, _ second: Int32) -> Int {
        let key = UInt64(UInt32(bitPattern: first)) << 32 | UInt64(UInt32(bitPattern: second))
        // Fibonacci hashing: only the product's uppermost bits depend on all bits of the key. With
        // lower bits, all recursive calls of a function would collide.
        let hash = (key &* 0x9e37_79b9_7f4a_7c15) >> (64 - slots.count.trailingZeroBitCount)
        let mask = slots.count - 1
        var place = Int(truncatingIfNeeded: hash)
        while slots[place].value >= 0,
            slots[place].first != first || slots[place].second != second
        {
            place = (place + 1) & mask
        }
        return place
    }

    private mutating func grow() {
        let old = slots
        slots = [Slot](repeating: Self.empty, count: old.count * 2)
        for slot in old where slot.value >= 0 {
            slots[place(of: slot.first, slot.second)] = slot
        }
    }
}
