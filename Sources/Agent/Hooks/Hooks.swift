package import Images
package import ProcessIO
package import ProfileModel

/// Our code around the program's initialisers, and how much of its notes was reported.
package struct Hooks {
    package let area: AgentMemory
    /// The program's own signposts. The program writes none before they are switched on.
    package let signposts: ProgramSignposts
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

    package init(area: AgentMemory, signposts: ProgramSignposts) {
        self.area = area
        self.signposts = signposts
        isTold = [Bool](repeating: false, count: AgentMemory.mostRecords)
    }

    /// True if a thread is in the area's code right now, or has left it by a jump.
    package var isInUse: Bool {
        (0..<area.counts.records).contains { area.note($0).map { $0.end == nil } == true }
    }

    /// The runs that have ended since the last call, in order. At the end also those that have not
    /// ended.
    package mutating func newRuns(isLast: Bool) -> [AgentMemory.Note] {
        let count = area.counts.records
        var runs: [AgentMemory.Note] = []
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
    package struct SeenLibrary {
        package var load: AgentMemory.Load
        package var path: String
        package var size: Int64
        package var name: String
        package var needed: [String]
        package var bias: UInt64
        /// Where its code was, as our code noted it; empty: not known.
        package var code: [CodeMapping] = []
    }

    /// Looks at the libraries loaded since the last call: they may be gone when their call is over.
    ///
    /// - Returns: those that are still there.
    package mutating func see(_ memory: TargetMemory) -> [LinkedObject] {
        var objects: [LinkedObject] = []
        let new = seen.count..<max(area.counts.libraries, seen.count)
        let loads = new.map(area.load)
        for (position, index) in new.enumerated() {
            let load = loads[position]
            // The libraries of the start-up are reported all at once, elsewhere.
            guard load.open != nil else {
                seen.append(nil)
                continue
            }
            let noted = area.notedLibrary(index)
            // The linker may have reused its entry for a later library.
            let isReused = loads[(position + 1)...].contains { $0.map == load.map }
            let object = isReused ? nil : LinkMap.object(at: load.map, memory: memory)
            if let object, noted.map({ $0.isSame(as: object) }) ?? true {
                objects.append(object)
                seen.append(SeenLibrary(load, object, memory, code: noted?.code ?? []))
            } else {
                seen.append(noted.map { SeenLibrary(load, gone: $0) })
            }
        }
        return objects
    }

    /// A library that a call loaded; nil: not known, or the start-up loaded it.
    package func library(_ index: Int) -> SeenLibrary? {
        seen.indices.contains(index) ? seen[index] : nil
    }

    /// The libraries whose calls have ended since this was last called; at the end also all others.
    /// The libraries of one call come together, with the call's number and the end of its last
    /// initialiser (nil: not all have returned).
    package mutating func newLibraries(
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

extension Hooks.SeenLibrary {
    fileprivate init(
        _ load: AgentMemory.Load, _ object: LinkedObject, _ memory: TargetMemory,
        code: [CodeMapping]
    ) {
        self.init(
            load: load, path: object.path, size: object.size(memory), name: object.name(memory),
            needed: object.dynamic(memory).names(memory: memory).needed, bias: object.bias,
            code: code)
    }

    /// A library that is gone, from our code's note.
    fileprivate init(_ load: AgentMemory.Load, gone noted: NotedLibrary) {
        self.init(
            load: load, path: noted.path, size: noted.size, name: noted.name, needed: [],
            bias: noted.address, code: noted.code)
    }
}
