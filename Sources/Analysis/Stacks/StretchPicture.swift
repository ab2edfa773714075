package import ProfileModel

/// One thread's scattered times between two moments, with one stack.
package struct ScatteredStretch: Sendable {
    /// The start is that of the first stretch that it represents; the times are their sum.
    package var stretch: Stretch
    /// The end of the last stretch.
    package var end: TimeSpan
    /// The part of its time that is charged to a caller.
    fileprivate var charged = TimeSpan.zero

    init(_ stretch: Stretch) { (self.stretch, end) = (stretch, stretch.end) }

    fileprivate mutating func add(_ other: ScatteredStretch) {
        stretch.times = stretch.times + other.stretch.times
        stretch.start = min(stretch.start, other.stretch.start)
        end = max(end, other.end)
        charged = charged + other.charged
    }

    /// Charges its time to a caller of its stack.
    fileprivate mutating func charge(to caller: Int) {
        stretch.stack = caller
        stretch.waitStack = nil
        charged = stretch.times.wall
    }
}

/// The stretches of threads, in no more entries than a picture can hold, for any duration and any
/// number of stacks. As many of the longest entries as fill half of its room stay in their places.
/// Shorter ones are joined over longer and longer times. Sums by thread, phase and stack stay the
/// same, except ``charged``.
package struct StretchPicture: Sendable {
    /// By thread, in the order of time.
    package private(set) var lists: [[Stretch]]
    /// For each thread; entries may overlap in time with each other, and with ``lists``.
    package private(set) var scattered: [[ScatteredStretch]]
    /// See ``Tiles/width``.
    package let width: TimeSpan
    /// The time that shows only an outer part of its stack: it counts as the caller's own.
    package private(set) var charged = TimeSpan.zero

    /// An empty picture.
    package init() { (lists, scattered, width) = ([], [], .zero) }

    /// - Parameters:
    ///   - most: how many entries there may be in all.
    ///   - caller: the caller of a stack's innermost frame, both by their positions; nil: it has
    ///     none.
    init(_ tiles: Tiles<Stretch>, most: Int, caller: (Int) -> Int?) {
        lists = tiles.lists
        width = tiles.width
        scattered = Array(repeating: [], count: lists.count)
        guard lists.reduce(0, { $0 + $1.count }) > most else { return }
        var rest = keepLongest(most / 2)
        var room = most - most / 2
        let end = lists.compactMap(\.last?.end).max() ?? .zero
        var wider = max(width, .milliseconds(1))
        while wider < end, rest.count > room {
            wider = wider + wider
            rest = Self.together(rest, by: wider)
            guard rest.count > room else { break }
            // First reserve room for the remaining kinds, joined to one entry each.
            let spare = (room - Self.together(rest, by: Self.all).count) / 2
            guard spare > 0 else { break }
            rest = scatter(rest, longest: spare)
            room -= spare
        }
        if rest.count > room { rest = Self.together(rest, by: Self.all) }
        if rest.count > room { rest = charge(rest, most: room, caller) }
        _ = scatter(rest, longest: rest.count)
    }

    /// The remaining entries, without their places in the lists.
    private mutating func keepLongest(_ count: Int) -> [ScatteredStretch] {
        let walls = lists.joined().map { $0.times.wall }.sorted(by: >)
        let least = walls.indices.contains(count) ? walls[count] : .zero
        // Of equally long ones, the first.
        var spare = count - walls.partitionIndex { $0 <= least }
        var rest: [ScatteredStretch] = []
        for thread in lists.indices {
            var kept: [Stretch] = []
            for stretch in lists[thread] {
                if stretch.times.wall == least { spare -= 1 }
                if stretch.times.wall > least || (stretch.times.wall == least && spare >= 0) {
                    kept.append(stretch)
                } else {
                    rest.append(ScatteredStretch(stretch))
                }
            }
            lists[thread] = kept
        }
        return rest
    }

    /// - Returns: the entries that are not among the longest.
    private mutating func scatter(
        _ entries: [ScatteredStretch], longest count: Int
    ) -> [ScatteredStretch] {
        let sorted = Self.longestFirst(entries)
        for entry in sorted.prefix(count) where scattered.indices.contains(entry.stretch.thread) {
            scattered[entry.stretch.thread].append(entry)
        }
        return Array(sorted.dropFirst(count))
    }

    private static func longestFirst(_ entries: [ScatteredStretch]) -> [ScatteredStretch] {
        let order = entries.indices.sorted {
            (entries[$1].stretch.times.wall, $0) < (entries[$0].stretch.times.wall, $1)
        }
        return order.map { entries[$0] }
    }

    /// One tile for everything.
    private static var all: TimeSpan { TimeSpan(nanoseconds: .max) }

    private struct Key: Hashable {
        var thread: Int
        var tile: Int64
        var kind: Stretch.Kind
    }

    /// Joins equal entries in one tile of a thread.
    private static func together(
        _ entries: [ScatteredStretch], by width: TimeSpan
    ) -> [ScatteredStretch] {
        var places: [Key: Int] = [:]
        var result: [ScatteredStretch] = []
        for entry in entries {
            let tile = entry.stretch.start.nanoseconds / max(width.nanoseconds, 1)
            let key = Key(thread: entry.stretch.thread, tile: tile, kind: entry.stretch.kind)
            if let place = places[key] {
                result[place].add(entry)
            } else {
                places[key] = result.count
                result.append(entry)
            }
        }
        return result
    }

    /// After this many single steps outwards, each step goes twice as far as the one before.
    private static let singleSteps = 24

    private mutating func charge(
        _ entries: [ScatteredStretch], most: Int, _ caller: (Int) -> Int?
    ) -> [ScatteredStretch] {
        var sorted = Self.longestFirst(entries)
        var (step, stride, hasMoved) = (0, 1, true)
        while sorted.count > most, hasMoved {
            hasMoved = false
            for index in most / 2..<sorted.count {
                guard var outer = caller(sorted[index].stretch.stack) else { continue }
                for _ in 1..<stride {
                    guard let next = caller(outer) else { break }
                    outer = next
                }
                sorted[index].charge(to: outer)
                hasMoved = true
            }
            step += 1
            if step >= Self.singleSteps { stride *= 2 }
            sorted = Self.longestFirst(Self.together(sorted, by: Self.all))
        }
        charged = sorted.reduce(.zero) { $0 + $1.charged }
        return sorted
    }
}
