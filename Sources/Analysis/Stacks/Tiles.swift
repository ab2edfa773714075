package import ProfileModel

/// A stretch of one thread, as an entry of a picture.
protocol TileEntry {
    associatedtype Kind: Hashable
    /// Entries of a tile are joined if their kinds are equal.
    var kind: Kind { get }
    /// Since the launch's start.
    var start: TimeSpan { get set }
    var end: TimeSpan { get }
    /// Takes the time of another one of the same kind.
    mutating func add(_ other: Self)
}

/// The entries of many threads over a long time, joined by tiles of time. A picture shows a few
/// thousand moments, so it need not hold millions. Sums stay the same.
package struct Tiles<Entry> {
    /// By thread, in the order of time.
    package private(set) var lists: [[Entry]]
    /// The width of a tile, in which a thread's entries are joined; zero: none are, all entries are
    /// unchanged.
    package private(set) var width = TimeSpan.zero

    /// Narrower tiles would hardly be fewer than their entries: a tick is as long.
    private static var narrowest: TimeSpan { .milliseconds(1) }
    /// Entries keep their places, to within a point of a picture.
    private static var leastTiles: Int64 { 500 }

    /// An empty list.
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
                // This entry is at least as wide as a tile.
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

    /// Lays the entries out one after the other, each with all of its time.
    mutating func empty(into result: inout [Entry]) {
        var start = entries.first?.start ?? .zero
        for var entry in entries {
            let wall = entry.end - entry.start
            entry.start = start
            start = start + wall
            result.append(entry)
        }
        // Clearing the whole dictionary would take time in proportion to the fullest tile so far.
        for entry in entries { places[entry.kind] = nil }
        entries.removeAll(keepingCapacity: true)
        place = nil
    }
}

// These are in this file so that the compiler specialises the code for each kind of entry:
// elsewhere it would be ten times as slow.
extension Profile {
    /// The stretches of threads, with their stacks.
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

    /// The states of threads.
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
