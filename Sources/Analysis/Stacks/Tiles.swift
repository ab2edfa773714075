package import ProfileModel

/// What one thread did for a while, as a picture of it has it.
protocol TileEntry {
    associatedtype Kind: Hashable
    /// What of a tile is put together: all that is alike in this.
    var kind: Kind { get }
    /// Since the launch's start.
    var start: TimeSpan { get set }
    var end: TimeSpan { get }
    /// Takes the time of another one of the same kind.
    mutating func add(_ other: Self)
}

/// What many threads did for a long time, put together by tiles of time. A picture shows a few
/// thousand moments, so it need not carry millions. Sums stay what they are.
package struct Tiles<Entry> {
    /// By thread, in the order of time.
    package private(set) var lists: [[Entry]]
    /// How much of a thread's time is put together; zero: none, everything is as it was.
    package private(set) var width = TimeSpan.zero

    /// The narrowest tiles would hardly be fewer than what they stand for: a tick is as long.
    private static var narrowest: TimeSpan { .milliseconds(1) }
    /// What happened stays where it happened, to a point of a picture.
    private static var leastTiles: Int64 { 500 }

    /// None.
    package init() { lists = [] }
}

extension Tiles where Entry: TileEntry {
    /// - Parameters:
    ///   - lists: by thread, in the order of time.
    ///   - most: how many entries there may be in all. There are more if they are of so many kinds
    ///     that tiles would have to be wider than makes sense.
    init(_ lists: [[Entry]], most: Int) {
        self.lists = lists
        let end = lists.compactMap(\.last?.end).max() ?? .zero
        let widest = TimeSpan(nanoseconds: end.nanoseconds / Self.leastTiles)
        while self.lists.reduce(0, { $0 + $1.count }) > most {
            let next = max(width + width, Self.narrowest)
            guard next <= widest else { break }
            width = next
            self.lists = self.lists.map { Self.put(together: $0, by: width) }
        }
    }

    private static func put(together list: [Entry], by width: TimeSpan) -> [Entry] {
        var tile = Tile<Entry>()
        var result: [Entry] = []
        for entry in list {
            let place = entry.start.nanoseconds / width.nanoseconds
            if entry.end - entry.start >= width {
                // It fills more than a tile alone.
                tile.empty(into: &result)
                result.append(entry)
                continue
            }
            if place != tile.place { tile.empty(into: &result) }
            tile.place = place
            tile.add(entry)
        }
        tile.empty(into: &result)
        return result
    }
}

/// One thread's time in one tile.
private struct Tile<Entry: TileEntry> {
    var place: Int64?
    private var entries: [Entry] = []
    private var places: [Entry.Kind: Int] = [:]

    mutating func add(_ entry: Entry) {
        if let place = places[entry.kind] { return entries[place].add(entry) }
        places[entry.kind] = entries.count
        entries.append(entry)
    }

    /// One behind the other, each with all of its time.
    mutating func empty(into result: inout [Entry]) {
        var start = entries.first?.start ?? .zero
        for var entry in entries {
            let wall = entry.end - entry.start
            entry.start = start
            start = start + wall
            result.append(entry)
        }
        // Not all at once, which takes as long as the fullest tile so far was full.
        for entry in entries { places[entry.kind] = nil }
        entries.removeAll(keepingCapacity: true)
        place = nil
    }
}

// Here, where the compiler makes code for each kind of entry: elsewhere it would be ten times as slow.
extension Profile {
    /// What threads did, with their stacks.
    ///
    /// - Parameter most: how many stretches there may be in all.
    package func stretchPicture(most: Int) -> StretchPicture {
        var lists = [[Stretch]](repeating: [], count: threads.count)
        for stretch in stretches(in: .all) { lists[stretch.thread].append(stretch) }
        let lines = paths.lines
        return StretchPicture(Tiles(lists, most: most), most: most) { stack in
            let parent = lines[stack].parent
            return parent == PathTable.none ? nil : Int(parent)
        }
    }

    /// In which states threads were.
    ///
    /// - Parameter most: how many stretches there may be in all.
    package func tiledTimelines(most: Int) -> Tiles<StateRun> { Tiles(timelines(), most: most) }
}

extension Stretch: TileEntry {
    struct Kind: Hashable {
        var phase: Int
        var stack: Int
        var waitStack: Int?
    }

    var kind: Kind { Kind(phase: phase, stack: stack, waitStack: waitStack) }

    mutating func add(_ other: Stretch) { times = times + other.times }
}

extension StateRun: TileEntry {
    var kind: ThreadState { state }

    mutating func add(_ other: StateRun) { length = length + other.length }
}
