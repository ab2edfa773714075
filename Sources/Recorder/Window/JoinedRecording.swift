import ProfileModel

extension Recording {
    /// Joins the parts of one recording. Each part continues the threads and the modules of the
    /// part before, like a recording that was attached at a moment. Rows that ended before `start`
    /// are left out; rows that were going on then are cut there.
    ///
    /// - Parameter parts: in the order of time; the last one has the header and the notes.
    init(joining parts: [Recording], from start: MonotonicTime) {
        var joined = JoinedRecording(of: parts, from: start)
        for part in parts { joined.add(part) }
        var header = parts.last?.header ?? joined.header
        header.isAttached = true
        self = joined.finished(header, parts.last?.notes ?? [])
    }
}

/// Puts a recording together from its parts.
private struct JoinedRecording {
    private let start: MonotonicTime
    private var result: Recording
    private var threads: [Identity: ThreadIndex] = [:]
    /// For each thread, its priority at the start, and the one that was seen last.
    private var first: [ThreadIndex: Priority] = [:]
    private var last: [ThreadIndex: Priority] = [:]

    /// Threads, and children, that had ended at the start. A part that was written while one of
    /// them lived does not know that.
    private let overThreads: Set<Identity>
    private let overChildren: Set<Identity>
    private var children: [Identity: ChildIndex] = [:]

    /// Identifies a thread, or a child, in all parts.
    private struct Identity: Hashable {
        var id: Int32
        var start: MonotonicTime

        init(_ thread: RecordedThread) { (id, start) = (thread.tid, thread.start) }
        init(_ child: ChildProcess) { (id, start) = (child.pid, child.start) }
    }

    init(of parts: [Recording], from start: MonotonicTime) {
        self.start = start
        func isOver(_ end: MonotonicTime?) -> Bool { end.map { $0 <= start } ?? false }
        overThreads = Set(
            parts.flatMap { $0.threads.filter { isOver($0.end) }.map { Identity($0) } })
        overChildren = Set(
            parts.flatMap { $0.children.filter { isOver($0.end) }.map { Identity($0) } })
        result = Recording(
            header: Recording.Header(pid: 0, isAttached: true, capture: .untraced, frequency: 0))
    }

    var header: Recording.Header { result.header }

    mutating func add(_ part: Recording) {
        result.images.join(part.images)
        result.borders.join(part.borders)
        if part.modules.count > result.modules.count { result.modules = part.modules }
        // Frames without addresses have the same names in all parts.
        result.symbols.frames.merge(part.symbols.frames) { known, _ in known }
        result.ready = result.ready ?? part.ready
        var numbers = PartNumbers(of: part)
        addChildren(part, &numbers)
        addThreads(part, &numbers)
        addMappings(part, numbers)
        addSlices(part, &numbers)
        addFacts(part, &numbers)
        addSchedule(part, numbers)
    }

    mutating func finished(
        _ header: Recording.Header, _ notes: [RecorderNote]
    ) -> Recording {
        result.header = header
        result.notes = notes
        result.images.cut(at: start)
        result.borders.cut(at: start)
        for index in result.children.indices where result.children[index].start < start {
            // We do not know how much of its CPU time was before.
            result.children[index].cpu = nil
            result.children[index].start = start
            result.children[index].images.cut(at: start)
            result.children[index].borders.cut(at: start)
        }
        if let ready = result.ready, ready.time < start { result.ready = nil }
        result.priorities = first.values.sorted { $0.thread < $1.thread } + result.priorities
        for index in result.threads.indices {
            result.threads[index].start = max(result.threads[index].start, start)
        }
        return result
    }

    // MARK: Processes and threads

    private mutating func addChildren(_ part: Recording, _ numbers: inout PartNumbers) {
        for var child in part.children {
            let identity = Identity(child)
            guard !overChildren.contains(identity) else {
                numbers.children.append(nil)
                continue
            }
            child.parentIndex = child.parentIndex.flatMap { numbers[$0] }
            let index = children[identity] ?? ChildIndex(result.children.count)
            children[identity] = index
            numbers.children.append(index)
            if index.rawValue < result.children.count {
                let known = result.children[index.rawValue]
                (child.images, child.borders) = (
                    known.images.joined(child.images), known.borders.joined(child.borders)
                )
                child.parentIndex = known.parentIndex
                result.children[index.rawValue] = child
            } else {
                result.children.append(child)
            }
        }
    }

    private mutating func addMappings(_ part: Recording, _ numbers: PartNumbers) {
        let known = Set(result.mappings.map(\.place))
        let border = part.borders.first { $0.kind == .attached }?.time
        for var mapping in part.mappings where numbers.has(mapping.child) {
            mapping.child = mapping.child.flatMap { numbers[$0] }
            if mapping.time == border, known.contains(mapping.place) { continue }
            result.mappings.append(mapping)
        }
    }

    private mutating func addThreads(_ part: Recording, _ numbers: inout PartNumbers) {
        for var thread in part.threads {
            let identity = Identity(thread)
            guard !overThreads.contains(identity), numbers.has(thread.child) else {
                numbers.threads.append(nil)
                continue
            }
            thread.child = thread.child.flatMap { numbers[$0] }
            let index = threads[identity] ?? ThreadIndex(result.threads.count)
            threads[identity] = index
            numbers.threads.append(index)
            if index.rawValue < result.threads.count {
                result.threads[index.rawValue] = thread
            } else {
                result.threads.append(thread)
            }
        }
    }

    private mutating func addSlices(_ part: Recording, _ numbers: inout PartNumbers) {
        for var slice in part.slices where slice.end > start {
            guard let thread = numbers[slice.thread] else { continue }
            if slice.start < start {
                // Of several states, we do not know which came first.
                guard let state = slice.times.onlyWait else { continue }
                slice.times[state] = slice.end - start
                slice.start = start
            }
            slice.thread = thread
            slice.stack = slice.stack.flatMap { numbers.stack($0, in: &result.stacks) }
            result.slices.append(slice)
        }
    }

    // MARK: Facts about them

    private mutating func addFacts(_ part: Recording, _ numbers: inout PartNumbers) {
        for var wait in part.waits where wait.end > start {
            guard let thread = numbers[wait.thread] else { continue }
            wait.thread = thread
            wait.start = max(wait.start, start)
            wait.stack = wait.stack.flatMap { numbers.stack($0, in: &result.stacks) }
            result.waits.append(wait)
        }
        for var load in part.libraries where load.start >= start && numbers.has(load.child) {
            load.child = load.child.flatMap { numbers[$0] }
            load.caller = load.caller.flatMap { numbers.stack($0, in: &result.stacks) }
            result.libraries.append(load)
        }
        for var run in part.initializers where run.start >= start {
            guard let thread = numbers[run.thread],
                let function = numbers.stack(run.function, in: &result.stacks)
            else { continue }
            (run.thread, run.function) = (thread, function)
            result.initializers.append(run)
        }
        // The length of an interval that began before the start would be wrong.
        for var interval in part.intervals
        where interval.start >= start && numbers.has(interval.child) {
            interval.child = interval.child.flatMap { numbers[$0] }
            interval.thread = interval.thread.flatMap { numbers[$0] }
            result.intervals.append(interval)
        }
        for var signpost in part.signposts
        where signpost.time >= start && numbers.has(signpost.child) {
            signpost.child = signpost.child.flatMap { numbers[$0] }
            signpost.thread = signpost.thread.flatMap { numbers[$0] }
            result.signposts.append(signpost)
        }
    }

    private mutating func addSchedule(_ part: Recording, _ numbers: PartNumbers) {
        for var run in part.runs where run.end > start {
            guard let thread = numbers[run.thread] else { continue }
            run.thread = thread
            run.start = max(run.start, start)
            result.runs.append(run)
        }
        for var wakeup in part.wakeups where wakeup.time >= start {
            guard let thread = numbers[wakeup.thread] else { continue }
            wakeup.thread = thread
            wakeup.wakerThread = wakeup.wakerThread.flatMap { numbers[$0] }
            result.wakeups.append(wakeup)
        }
        for var priority in part.priorities {
            guard let thread = numbers[priority.thread] else { continue }
            priority.thread = thread
            if priority.time <= start {
                priority.time = start
                first[thread] = priority
            } else if last[thread]?.isSame(as: priority) != true {
                result.priorities.append(priority)
            }
            last[thread] = priority
        }
    }
}

/// The numbers that a part's processes, threads and stacks have in the whole.
private struct PartNumbers {
    /// nil: left out.
    var children: [ChildIndex?] = []
    var threads: [ThreadIndex?] = []
    private let nodes: [StackTable.Node]
    private var stacks: [StackID?]

    init(of part: Recording) {
        nodes = part.stacks.nodes
        stacks = Array(repeating: nil, count: nodes.count)
    }

    subscript(thread: ThreadIndex) -> ThreadIndex? {
        threads.indices.contains(thread.rawValue) ? threads[thread.rawValue] : nil
    }

    subscript(child: ChildIndex) -> ChildIndex? {
        children.indices.contains(child.rawValue) ? children[child.rawValue] : nil
    }

    /// Whether the process is in the whole. The recorded one is.
    func has(_ child: ChildIndex?) -> Bool { child.map { self[$0] != nil } ?? true }

    /// Only stacks that are used get to the whole.
    mutating func stack(_ stack: StackID, in table: inout StackTable) -> StackID? {
        var chain: [Int] = []
        var next: StackID? = stack
        var result: StackID?
        while let index = next.map({ Int($0.rawValue) }), nodes.indices.contains(index) {
            if let known = stacks[index] {
                result = known
                break
            }
            chain.append(index)
            next = nodes[index].parent
        }
        for index in chain.reversed() {
            result = table.intern(parent: result, frame: nodes[index].frame)
            stacks[index] = result
        }
        return result
    }
}

// A part repeats the last entries of the part before: the program, and the border `attached`.

extension [Image] {
    fileprivate func joined(_ later: [Image]) -> [Image] {
        isEmpty ? later : self + later.dropFirst()
    }

    fileprivate mutating func join(_ later: [Image]) { self = joined(later) }

    /// Leaves out programs that had been replaced before the start.
    fileprivate mutating func cut(at start: MonotonicTime) {
        let running = lastIndex { $0.time <= start } ?? 0
        self = dropFirst(running).map { image in
            var image = image
            image.time = Swift.max(image.time, start)
            return image
        }
    }
}

extension [LaunchBorder] {
    fileprivate func joined(_ later: [LaunchBorder]) -> [LaunchBorder] {
        isEmpty ? later : self + later.filter { $0.kind != .attached }
    }

    fileprivate mutating func join(_ later: [LaunchBorder]) { self = joined(later) }

    fileprivate mutating func cut(at start: MonotonicTime) {
        let later = filter { $0.time > start && $0.kind != .attached }
        // Drop a `released` border whose `held` border was cut off.
        self = [LaunchBorder(kind: .attached, time: start)] + later.drop { $0.kind == .released }
    }
}

extension Mapping {
    /// The mapping without the time at which it was seen.
    fileprivate var place: Mapping {
        var place = self
        place.time = MonotonicTime(nanoseconds: 0)
        return place
    }
}

extension Priority {
    fileprivate func isSame(as other: Priority) -> Bool {
        (policy, nice, realTime) == (other.policy, other.nice, other.realTime)
    }
}
