import ProfileModel

/// Our code around the program's initialisers, and how much of its notes was reported.
struct Hooks {
    let area: Area
    /// The program's own signposts. The program writes none before they are switched on.
    let signposts: ProgramSignposts
    /// For each run, whether it was reported.
    private var isTold: [Bool]
    /// Every run before this one was reported.
    private var firstUntold = 0
    /// For each library, how many of its initialisers have returned.
    private var returned: [Int] = []
    private var lastEnd: [MonotonicTime] = []
    private var toldLibraries = 0
    /// nil: the library was gone before we saw it.
    private var seen: [SeenLibrary?] = []

    init(area: Area, signposts: ProgramSignposts) {
        self.area = area
        self.signposts = signposts
        isTold = [Bool](repeating: false, count: Area.mostRecords)
    }

    /// True if a thread is in the area's code right now, or has left it by a jump.
    var isInUse: Bool {
        (0..<area.counts.records).contains { area.note($0).map { $0.end == nil } == true }
    }

    /// The runs that have ended since the last call, in order. At the end also those that have not
    /// ended.
    mutating func newRuns(isLast: Bool) -> [Area.Note] {
        let count = area.counts.records
        var runs: [Area.Note] = []
        for index in firstUntold..<max(count, firstUntold) where !isTold[index] {
            guard let note = area.note(index), isLast || note.end != nil else { continue }
            isTold[index] = true
            runs.append(note)
            if let end = note.end { noteReturn(end, of: note.library) }
        }
        while firstUntold < count, isTold[firstUntold] { firstUntold += 1 }
        return runs.sorted { $0.start < $1.start }
    }

    private mutating func noteReturn(_ end: MonotonicTime, of library: Int) {
        while returned.count <= library {
            returned.append(0)
            lastEnd.append(MonotonicTime(nanoseconds: 0))
        }
        returned[library] += 1
        lastEnd[library] = max(lastEnd[library], end)
    }

    /// A library that a call loaded, as it was when we saw it.
    struct SeenLibrary {
        var load: Area.Load
        var path: String
        var size: Int64
        var name: String
        var needed: [String]
        var bias: UInt64
    }

    /// Looks at the libraries loaded since the last call: they may be gone when their call is over.
    ///
    /// - Returns: those that are still there.
    mutating func see(_ memory: TargetMemory) -> [LinkedObject] {
        var objects: [LinkedObject] = []
        for index in seen.count..<max(area.counts.libraries, seen.count) {
            let load = area.load(index)
            // The libraries of the start-up are reported all at once, elsewhere.
            let object =
                load.open == nil ? nil : LinkMap.object(at: load.map, memory: memory)
            if let object { objects.append(object) }
            seen.append(
                object.map {
                    SeenLibrary(
                        load: load, path: $0.path, size: $0.size(memory), name: $0.name(memory),
                        needed: $0.dynamic(memory).names(memory: memory).needed, bias: $0.bias)
                })
        }
        return objects
    }

    /// The libraries whose calls have ended since the last call of this; at the end all others,
    /// too. The libraries of one call come together, with the call's number and the end of its last
    /// initialiser (nil: not all have returned).
    mutating func newLibraries(
        isLast: Bool
    ) -> [(open: Int, libraries: [SeenLibrary], end: MonotonicTime?)] {
        var calls: [(open: Int, libraries: [SeenLibrary], end: MonotonicTime?)] = []
        while toldLibraries < seen.count {
            let open = seen[toldLibraries]?.load.open
            var next = toldLibraries
            var end: MonotonicTime?
            var isOver = true
            while next < seen.count, seen[next]?.load.open == open {
                let wanted = seen[next]?.load.initializers ?? 0
                let hasRun = next < returned.count && returned[next] >= wanted
                isOver = isOver && (hasRun || wanted == 0)
                if hasRun { end = max(end ?? lastEnd[next], lastEnd[next]) }
                next += 1
            }
            guard isOver || isLast || open == nil else { break }
            if let open {
                let libraries = seen[toldLibraries..<next].compactMap { $0 }
                calls.append((open, libraries, isOver ? end : nil))
            }
            toldLibraries = next
        }
        return calls
    }
}
