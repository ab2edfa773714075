import ProfileModel

/// Charges initialisers with their time, to the nanosecond.
///
/// A slice has one stack for all of its thread's time since the previous sample. The times of
/// initialisers are known, so a slice is divided where one begins or ends. Time within an
/// initialiser's run belongs to its function, whether or not a sample shows it. Time outside does
/// not.
struct InitializerStacks {
    /// One run of an initialiser.
    private struct Run {
        var start: MonotonicTime
        var end: MonotonicTime
        var frame: FrameID
        var function: FunctionID
        /// The position of the run that it is part of.
        var parent: Int?
        var siblings: Siblings
    }

    /// Runs that are called from the same place.
    private struct Siblings: Hashable {
        var thread: Int
        /// The run that they are part of.
        var parent: Int?
        /// The C library calls the program's own; the dynamic linker calls those of libraries.
        var isProgram: Bool
        /// The time at which the libraries of one `dlopen` were noticed together; nil: not known.
        var load: MonotonicTime?
    }

    /// The innermost run from a moment until the next step.
    private struct Step {
        var start: MonotonicTime
        var run: Int?
    }

    /// Part of a slice, and the line that it is charged to.
    struct Piece {
        var start: MonotonicTime
        var times: StateTimes
        var line: Int32
    }

    private var runs: [Run] = []
    /// For each thread, in order; the last step is without a run.
    private var steps: [Int: [Step]] = [:]
    /// The functions of all runs.
    private var functions: Set<FunctionID> = []
    /// The line of their caller, as some stack shows it.
    private var callers: [Siblings: Int32] = [:]

    /// How many more steps may be visited. Slices tile a thread's life, so each step is visited
    /// about once. In a damaged file, slices after this limit stay undivided.
    private var stepsToMeet: Int

    /// The limit for nested runs, beyond any real program: a deeper run's time belongs to the run
    /// around it.
    private static let deepest = 32
    /// No recorder takes deeper stacks: those of a forged file stay undivided.
    private static let deepestStack = 10_000
    private static let never = MonotonicTime(nanoseconds: .max)

    init(_ recording: Recording, _ expander: inout StackExpander) {
        stepsToMeet = 8 * (recording.slices.count + recording.initializers.count)
        guard !recording.initializers.isEmpty else { return }
        let places = RunPlaces(recording)
        let byThread = Dictionary(grouping: recording.initializers, by: \.thread.rawValue)
        for (thread, initializers) in byThread.sorted(by: { $0.key < $1.key })
        where recording.threads.indices.contains(thread) {
            addRuns(initializers, thread, places, &expander)
        }
        for slice in recording.slices where steps[slice.thread.rawValue] != nil {
            findCallers(on: slice.clamped, &expander)
        }
    }

    private mutating func addRuns(
        _ initializers: [InitializerRun], _ thread: Int, _ places: RunPlaces,
        _ expander: inout StackExpander
    ) {
        let order = initializers.enumerated().sorted {
            ($0.element.start, $1.element.end, $0.offset)
                < ($1.element.start, $0.element.end, $1.offset)
        }
        var steps: [Step] = []
        var open: [Int] = []
        func close(until time: MonotonicTime) {
            while let last = open.last, runs[last].end <= time {
                open.removeLast()
                steps.append(Step(start: runs[last].end, run: open.last))
            }
        }
        // A run without a return was closed where the recording ended: its length is not known.
        for (_, initializer) in order where initializer.isComplete {
            let start = initializer.start.clamped
            close(until: start)
            guard open.count < Self.deepest,
                let frame = expander.innermostFunction(of: initializer.function)
            else { continue }
            // No run ends after the one that it is part of.
            let end = min(initializer.end.clamped, open.last.map { runs[$0].end } ?? Self.never)
            guard end > start else { continue }
            let function = expander.frames[frame].function
            let module = expander.frames[function].moduleIndex
            runs.append(
                Run(
                    start: start, end: end, frame: frame, function: function, parent: open.last,
                    siblings: Siblings(
                        thread: thread, parent: open.last, isProgram: places.isProgram(module),
                        load: places.load(of: module, before: start))))
            functions.insert(function)
            open.append(runs.count - 1)
            steps.append(Step(start: start, run: open.last))
        }
        close(until: Self.never)
        self.steps[thread] = steps
    }

    private mutating func findCallers(on slice: Slice, _ expander: inout StackExpander) {
        let around = steps(around: slice)
        guard !around.isEmpty, slice.stack != nil, slice.truncation == nil else { return }
        let line = expander.line(of: slice.stack, nil)
        let stack = SeenStack(line: line, entries: entries(on: line, of: around, expander) ?? [])
        for entry in stack.entries where entry.caller != PathTable.none {
            let siblings = runs[entry.run].siblings
            if callers[siblings] == nil { callers[siblings] = entry.caller }
        }
    }

    /// The pieces of a slice, in order; nil: no initialiser affects the slice.
    ///
    /// - Parameters:
    ///   - slice: with clamped times.
    ///   - line: its stack's line in the expander's table.
    mutating func pieces(
        of slice: Slice, line: Int32, _ expander: inout StackExpander
    ) -> [Piece]? {
        let around = steps(around: slice)
        guard !around.isEmpty, let entries = entries(on: line, of: around, expander) else {
            return nil
        }
        var stack = SeenStack(line: line, entries: entries)
        if let run = around.last?.run, slice.stack != nil,
            slice.truncation != nil || maySucceed(run, line, expander)
        {
            stack.run = run
        }
        var result: [Piece] = []
        var rest = slice.times
        var cursor = slice.start
        func add(_ times: StateTimes, _ line: Int32) {
            guard times != .zero else { return }
            if let last = result.indices.last, result[last].line == line {
                result[last].times = result[last].times + times
            } else {
                result.append(Piece(start: cursor, times: times, line: line))
            }
            cursor = cursor + times.wall
        }
        for (index, step) in around.enumerated() {
            let end = index + 1 < around.count ? around[index + 1].start : slice.end
            var times = rest.prefix(wall: end - cursor)
            guard times != .zero else { continue }
            rest = rest - times
            let line = self.line(during: step.run, stack, &expander)
            // The stack of a wait was taken during the wait, so it belongs to that wait alone.
            if slice.systemCall != nil, line != stack.line {
                add(StateTimes(blocked: times.blocked), stack.line)
                times.blocked = .zero
            }
            add(times, line)
        }
        return result
    }

    /// The steps that overlap a slice; the first of them may have begun before it. Empty: the slice
    /// is in no run.
    private mutating func steps(around slice: Slice) -> [Step] {
        guard let known = steps[slice.thread.rawValue], slice.times != .zero else { return [] }
        let first = known.partitionIndex { $0.start > slice.start } - 1
        let end = known.partitionIndex { $0.start >= slice.end }
        guard first + 1 < end || (first >= 0 && known[first].run != nil), end - first <= stepsToMeet
        else { return [] }
        stepsToMeet -= end - first
        // Before its first run a thread has no step.
        if first < 0 { return [Step(start: slice.start, run: nil)] + known[0..<end] }
        return Array(known[first..<end])
    }
}

extension InitializerStacks {
    /// The function of a run, at its place on a stack.
    private struct Entry {
        var run: Int
        var line: Int32
        var caller: Int32
    }

    /// A slice's stack.
    private struct SeenStack {
        var line: Int32
        /// Outermost first, each function once.
        var entries: [Entry]
        /// The run that the stack may belong to although the run's function is not on it.
        var run: Int?
    }

    /// The places of some steps' functions on a stack, outermost first; nil: it is too deep.
    private func entries(
        on line: Int32, of steps: [Step], _ expander: StackExpander
    ) -> [Entry]? {
        var wanted: [FunctionID: Int] = [:]
        for step in steps {
            var next = step.run
            while let run = next {
                wanted[runs[run].function] = run
                next = runs[run].parent
            }
        }
        var found: [FunctionID: Entry] = [:]
        var next = line
        var depth = 0
        while next != PathTable.none {
            depth += 1
            guard depth <= Self.deepestStack else { return nil }
            let caller = expander.paths.lines[Int(next)].parent
            let function = expander.paths.function(ofLine: next)
            // The outermost one is the function that the linker called.
            if let run = wanted[function] {
                found[function] = Entry(run: run, line: next, caller: caller)
            }
            next = caller
        }
        // Callers precede callees.
        return found.values.sorted { $0.line < $1.line }
    }

    private func line(
        during run: Int?, _ stack: SeenStack, _ expander: inout StackExpander
    ) -> Int32 {
        let inside = functions(around: run)
        let other = stack.entries.first { !inside.contains(runs[$0.run].function) }
        // Before the first that is not inside, there are at most as many entries as functions
        // inside.
        let isThere = stack.entries.prefix(inside.count).contains { entry in
            runs[entry.run].function == inside.first && entry.line < other?.line ?? .max
        }
        guard let run, !isThere else {
            return other.map { caller(of: $0, &expander) } ?? stack.line
        }
        if other == nil, run == stack.run { return stack.line }
        if let other, runs[other.run].siblings == runs[run].siblings {
            return expander.line(of: runs[run].frame, calledFrom: caller(of: other, &expander))
        }
        return place(of: run, &expander)
    }

    /// The functions of a run and of the runs around it, the innermost first.
    private func functions(around run: Int?) -> [FunctionID] {
        var result: [FunctionID] = []
        var next = run
        while let run = next {
            result.append(runs[run].function)
            next = runs[run].parent
        }
        return result
    }

    private func caller(of entry: Entry, _ expander: inout StackExpander) -> Int32 {
        entry.caller == PathTable.none ? expander.lineOfTimedInitializers() : entry.caller
    }

    /// Whether a stack may belong to a run although the run's function is not on it. The stack was
    /// taken when a slice ended, within the run. A function that ends with a tail call is replaced
    /// by the callee. (Work before a wait has the stack of a later sample.)
    private func maySucceed(_ run: Int, _ line: Int32, _ expander: StackExpander) -> Bool {
        let path = callers[runs[run].siblings].map(expander.paths.path(ofLine:))
        var next = line
        while next != PathTable.none {
            if expander.paths.path(ofLine: next) == path { return true }
            let function = expander.paths.function(ofLine: next)
            if function != runs[run].function, functions.contains(function) { return false }
            next = expander.paths.lines[Int(next)].parent
        }
        return path == nil
    }

    /// The line of a run that no stack shows. Its caller is that of its siblings, or else the run
    /// that it is part of; otherwise the caller is not known.
    private func place(of run: Int, _ expander: inout StackExpander) -> Int32 {
        var unplaced: [Int] = []
        var caller: Int32?
        var next: Int? = run
        while let run = next, caller == nil {
            unplaced.append(run)
            caller = callers[runs[run].siblings]
            next = runs[run].parent
        }
        var line = caller ?? expander.lineOfTimedInitializers()
        for run in unplaced.reversed() {
            line = expander.line(of: runs[run].frame, calledFrom: line)
        }
        return line
    }
}

/// Finds the program or the load that a module's initialisers belong to.
private struct RunPlaces {
    private var program: Set<ModuleIndex> = []
    /// In order: a library may be loaded again.
    private var loads: [ModuleIndex: [MonotonicTime]] = [:]

    init(_ recording: Recording) {
        var starts: [String: [MonotonicTime]] = [:]
        for library in recording.libraries {
            for path in Set([library.path, library.file ?? library.path]) {
                starts[path, default: []].append(library.start.clamped)
            }
        }
        for (index, module) in recording.modules.enumerated() {
            let key = ModuleIndex(index)
            if module.path == recording.images.last?.path { program.insert(key) }
            loads[key] = starts[module.path]?.sorted()
        }
    }

    func isProgram(_ module: ModuleIndex?) -> Bool { module.map(program.contains) ?? false }

    /// nil: not known.
    func load(of module: ModuleIndex?, before time: MonotonicTime) -> MonotonicTime? {
        guard let starts = module.flatMap({ loads[$0] }) else { return nil }
        let next = starts.partitionIndex { $0 > time }
        return next > 0 ? starts[next - 1] : nil
    }
}
