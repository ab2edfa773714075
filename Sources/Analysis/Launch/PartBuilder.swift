import ProfileModel

/// Divides slices at the borders of phases and initialisers, and adds up the figures of phases and
/// threads.
struct PartBuilder {
    private(set) var expander: StackExpander
    private(set) var phases: [Phase]
    private(set) var threads: [ThreadFigures]
    private(set) var parts = PartList()
    private(set) var slices = 0
    private(set) var truncations: [Truncation: Int] = [:]
    /// For each module, the number of stacks that end in it for want of unwind information.
    private(set) var unruledModules: [ModuleIndex: Int] = [:]

    private var waitTable: WaitTable
    private var initializerStacks: InitializerStacks
    private let plan: PhasePlan
    /// The end of each phase, in order.
    private let phaseEnds: [MonotonicTime]
    /// Whether each thread is the recorded process's first one.
    private let isMain: [Bool]
    /// Whether each thread belongs to the recorded process, not to a child.
    private let isOwn: [Bool]
    /// The number of slices that count and are charged to each line.
    private var slicesByLine: [Int] = []
    /// For each line, the last time of ``lastSight(of:)``.
    private var lastByLine: [MonotonicTime] = []
    /// The end of each thread's last slice.
    private var lastEnds: [MonotonicTime]
    private let threadEnds: [MonotonicTime?]
    private let tolerance: TimeSpan

    init(_ recording: Recording, plan: PhasePlan) {
        self.plan = plan
        tolerance = recording.header.tolerance
        var expander = StackExpander(recording)
        waitTable = WaitTable(recording, &expander)
        initializerStacks = InitializerStacks(recording, &expander)
        self.expander = expander
        phases = plan.phases()
        phaseEnds = phases.map { plan.start + $0.end }
        isMain = recording.threads.map { $0.isMain && $0.child == nil }
        isOwn = recording.threads.map { $0.child == nil }
        let starts = recording.threads.map(\.start.clamped)
        lastEnds = starts
        threadEnds = recording.threads.map { $0.end?.clamped }
        threads = zip(recording.threads, starts).map { thread, start in
            ThreadFigures(
                tid: thread.tid, name: thread.name, isMain: thread.isMain && thread.child == nil,
                start: plan.within(start) - plan.start, end: .zero, times: .zero,
                child: thread.child)
        }
        for priority in PriorityFigures.all(of: recording, plan) {
            threads[priority.thread].priorities.append(priority)
        }
        // Few slices are in two phases.
        parts.reserveCapacity(recording.slices.count + recording.slices.count / 8)
    }

    /// Adds a slice with its times clamped. A slice whose thread is not listed is left out: it
    /// cannot be charged.
    mutating func add(_ slice: Slice) {
        let thread = slice.thread.rawValue
        guard threads.indices.contains(thread) else { return }
        lastEnds[thread] = max(lastEnds[thread], slice.end)
        let line = expander.line(of: slice.stack, slice.truncation)
        count(slice, line: line)
        guard slice.times != .zero else { return }
        if let pieces = initializerStacks.pieces(of: slice, line: line, &expander) {
            for piece in pieces { add(piece, of: slice) }
        } else {
            add(
                InitializerStacks.Piece(start: slice.start, times: slice.times, line: line),
                of: slice)
        }
    }

    private mutating func add(_ piece: InitializerStacks.Piece, of slice: Slice) {
        let isBlocked = piece.times.blocked > .zero
        let waitLine = isBlocked ? waitLine(of: slice, piece.line) : PathTable.none
        divide(piece) { phase, start, times in
            Profile.Part(
                phase: Int32(truncatingIfNeeded: phase),
                thread: Int32(truncatingIfNeeded: slice.thread.rawValue), line: piece.line,
                waitLine: waitLine, start: start, times: times)
        }
    }

    private mutating func waitLine(of slice: Slice, _ line: Int32) -> Int32 {
        if let frame = waitTable.frame(for: slice) {
            return expander.line(of: frame, calledFrom: line)
        }
        return expander.line(ofWaitIn: slice.systemCall, calledFrom: line)
    }

    /// The waits, in the order of their starts.
    func waits(_ recording: Recording, _ schedule: RecordedSchedule) -> [WaitFigures] {
        guard !recording.waits.isEmpty else { return [] }
        let wakers = Wakers(recording, schedule)
        return waitTable.map(of: recording) { wait, reason, entry in
            let phase = phaseEnds.partitionIndex { $0 > max(wait.start, plan.start) }
            let waker = wakers.waker(of: wait)
            let isEndedByPeer = waker.map { wakers.isPeer($0, of: wait) } ?? false
            return WaitFigures(
                thread: wait.thread.rawValue, start: wait.start - plan.start,
                duration: wait.end - wait.start,
                reason: isEndedByPeer ? WaitDetails.reason(of: wait, endedByPeer: reason) : reason,
                phase: phase < phaseEnds.count ? phase : nil, endedBy: waker, line: entry.line)
        }
    }

    /// The initialisers. Their functions are added to the profile's.
    mutating func initializers(_ recording: Recording) -> [InitializerFigures] {
        InitializerFigures.all(of: recording, since: plan.start, &expander)
    }

    mutating func libraries(
        _ recording: Recording, _ initializers: [InitializerFigures]
    ) -> [LibraryFigures] {
        guard !recording.libraries.isEmpty else { return [] }
        return LibraryExaminer(recording, plan, initializers, sightings()).figures(&expander)
    }

    /// The phases, in which another thread than the first may be the main one.
    func phases(_ main: MainThread) -> [Phase] {
        guard let times = main.times(in: parts, phases: phases.count) else { return phases }
        var result = phases
        for index in result.indices { result[index].mainThread = times[index] }
        return result
    }

    /// Finishes the profile: the ends of threads are known.
    mutating func finish() {
        for index in threads.indices {
            let end = plan.within(threadEnds[index] ?? lastEnds[index])
            threads[index].end = max(end - plan.start, threads[index].start)
        }
        expander.seal()
    }

    private mutating func count(_ slice: Slice, line: Int32) {
        guard slice.stack != nil || slice.truncation != nil, slice.truncation != .notSampled
        else { return }
        slices += 1
        if let reason = slice.truncation { truncations[reason, default: 0] += 1 }
        if slice.truncation == .noRule, let stack = slice.stack,
            let module = expander.outermostModule(of: stack)
        {
            unruledModules[module, default: 0] += 1
        }
        while slicesByLine.count <= Int(line) {
            slicesByLine.append(0)
            lastByLine.append(MonotonicTime(nanoseconds: .min))
        }
        slicesByLine[Int(line)] += 1
        if slice.start < plan.end, isOwn[slice.thread.rawValue] {
            lastByLine[Int(line)] = max(lastByLine[Int(line)], lastSight(of: slice))
        }
    }

    /// The last moment that surely belongs to the function that a slice is charged to. The function
    /// may have ended before the slice did, so only the slice's start is certain. A wait may last
    /// for many samples, and has its stack at all of them; its end is known to the tick.
    private func lastSight(of slice: Slice) -> MonotonicTime {
        guard slice.times.running == .zero else { return slice.start }
        return max(slice.start, min(slice.end, plan.end) - tolerance)
    }

    /// Divides a slice at phases' borders. The position of each state inside a slice is not known,
    /// so each phase gets its share of each state. Time outside of the launch is left out.
    private mutating func divide(
        _ piece: InitializerStacks.Piece,
        part: (_ phase: Int, _ start: TimeSpan, _ times: StateTimes) -> Profile.Part
    ) {
        var rest = piece.times
        var cursor = piece.start
        func cut(at border: MonotonicTime) -> StateTimes {
            // Taken off the rest, not off the piece's start, so that no state's share becomes
            // negative.
            let share = rest.prefix(wall: border - cursor)
            rest = rest - share
            cursor = max(cursor, border)
            return share
        }
        _ = cut(at: plan.start)
        var phase = phaseEnds.firstIndex { $0 > cursor } ?? phaseEnds.count
        while phase < phaseEnds.count, rest != .zero {
            let start = cursor - plan.start
            let times = cut(at: phaseEnds[phase])
            if times != .zero { charge(part(phase, start, times)) }
            phase += 1
        }
    }

    private mutating func charge(_ part: Profile.Part) {
        let (phase, thread) = (Int(part.phase), Int(part.thread))
        phases[phase].cpu = phases[phase].cpu + part.times.running
        if isMain[thread] {
            phases[phase].mainThread = phases[phase].mainThread + part.times
        }
        threads[thread].times = threads[thread].times + part.times
        parts.append(part)
    }

    /// When each module was last on a stack of the recorded process, within the launch.
    private func sightings() -> ModuleSightings {
        let (paths, frames) = (expander.paths, expander.frames)
        let never = MonotonicTime(nanoseconds: .min)
        var byLine = lastByLine
        byLine.append(contentsOf: repeatElement(never, count: paths.lines.count - byLine.count))
        let isEnding = endings()
        for line in byLine.indices where isEnding[line] { byLine[line] = never }
        var result = ModuleSightings()
        result.last = byLine.max().flatMap { $0 == never ? nil : $0 }
        for line in paths.lines.indices.reversed() where byLine[line] != never {
            let path = paths.path(ofLine: Int32(truncatingIfNeeded: line))
            if let module = frames[paths.paths[Int(path)].function].moduleIndex?.rawValue {
                result.byModule[module] = max(result.byModule[module] ?? never, byLine[line])
            }
            let parent = paths.lines[line].parent
            if parent != PathTable.none {
                byLine[Int(parent)] = max(byLine[Int(parent)], byLine[line])
            }
        }
        return result
    }

    /// For each line, whether the code that ends a process called it. A library's destructors run
    /// whether or not the launch needed the library.
    private func endings() -> [Bool] {
        let names: Set<String> = ["__run_exit_handlers", "__cxa_finalize", "_dl_fini"]
        let (paths, frames) = (expander.paths, expander.frames)
        let isEnding = frames.functions.map { names.contains($0.name) }
        let ends = paths.paths.map { isEnding[Int($0.function.rawValue)] }
        var result = [Bool](repeating: false, count: paths.lines.count)
        for (index, line) in paths.lines.enumerated() {
            let isCalled = line.parent != PathTable.none && result[Int(line.parent)]
            result[index] = isCalled || ends[Int(paths.sites[Int(line.site)].path)]
        }
        return result
    }

    /// For each module, the number of slices with the module in their stacks.
    func slicesByModule(_ recording: Recording) -> [Int] {
        let (paths, frames) = (expander.paths, expander.frames)
        var byLine = slicesByLine
        byLine.append(contentsOf: repeatElement(0, count: paths.lines.count - byLine.count))
        var byPath = [Int](repeating: 0, count: paths.paths.count)
        for line in paths.lines.indices.reversed() {
            byPath[Int(paths.path(ofLine: Int32(truncatingIfNeeded: line)))] += byLine[line]
            let parent = paths.lines[line].parent
            if parent != PathTable.none { byLine[Int(parent)] += byLine[line] }
        }
        // One key more, for functions without a module.
        let count = recording.modules.count
        func key(_ path: PathTable.Path) -> Int {
            frames[path.function].moduleIndex?.rawValue ?? count
        }
        let isOutermost = paths.outermostOccurrences(count: count + 1, key: key)
        var result = [Int](repeating: 0, count: count + 1)
        for (index, path) in paths.paths.enumerated() where isOutermost[index] {
            result[key(path)] += byPath[index]
        }
        result.removeLast()
        return result
    }
}

extension PhasePlan {
    func within(_ time: MonotonicTime) -> MonotonicTime { min(max(time, start), end) }
}
