import ProfileModel

extension Recording {
    /// The parts of one recording, each of which goes on with the threads and the modules of the one
    /// before, as one that was attached at a moment: what was over by then is left out, what went on is
    /// cut there.
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
    /// Of each thread, what it had at the start, and what it was last seen to have.
    private var first: [ThreadIndex: Priority] = [:]
    private var last: [ThreadIndex: Priority] = [:]

    /// Threads that were over. A part in which one still lived does not know.
    private let over: Set<Identity>

    /// A thread has it in all parts.
    private struct Identity: Hashable {
        var tid: Int32
        var start: MonotonicTime

        init(_ thread: RecordedThread) { (tid, start) = (thread.tid, thread.start) }
    }

    init(of parts: [Recording], from start: MonotonicTime) {
        self.start = start
        let ended = parts.flatMap { $0.threads.filter { $0.end.map { $0 <= start } ?? false } }
        over = Set(ended.map(Identity.init))
        result = Recording(
            header: Recording.Header(pid: 0, isAttached: true, capture: .signal, frequency: 0))
    }

    var header: Recording.Header { result.header }

    mutating func add(_ part: Recording) {
        // A part repeats where the one before had arrived.
        let isFirst = result.images.isEmpty
        result.images += isFirst ? part.images[...] : part.images.dropFirst()
        result.marks += part.marks.filter { isFirst || $0.kind != .attached }
        if part.modules.count > result.modules.count { result.modules = part.modules }
        let known = Set(result.mappings.map(\.place))
        result.mappings += part.mappings.filter { !known.contains($0.place) }
        result.ready = result.ready ?? part.ready
        var numbers = PartNumbers(of: part)
        addThreads(part, &numbers)
        addSlices(part, &numbers)
        addFacts(part, &numbers)
        addSchedule(part, numbers)
    }

    mutating func finished(
        _ header: Recording.Header, _ notes: [RecorderNote]
    ) -> Recording {
        result.header = header
        result.notes = notes
        let running = result.images.lastIndex { $0.time <= start } ?? 0
        result.images = result.images.dropFirst(running).map { image in
            var image = image
            image.time = max(image.time, start)
            return image
        }
        let later = result.marks.filter { $0.time > start && $0.kind != .attached }
        // The other end of it is gone.
        let whole = later.drop { $0.kind == .released }
        result.marks = [Mark(kind: .attached, time: start)] + whole
        if let ready = result.ready, ready.time < start { result.ready = nil }
        result.priorities = first.values.sorted { $0.thread < $1.thread } + result.priorities
        for index in result.threads.indices {
            result.threads[index].start = max(result.threads[index].start, start)
        }
        return result
    }

    // MARK: Threads

    private mutating func addThreads(_ part: Recording, _ numbers: inout PartNumbers) {
        for thread in part.threads {
            let identity = Identity(thread)
            guard !over.contains(identity) else {
                numbers.threads.append(nil)
                continue
            }
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
                // Of time in several states nobody knows which came first.
                guard let state = slice.times.onlyWait else { continue }
                slice.times[state] = slice.end - start
                slice.start = start
            }
            slice.thread = thread
            slice.stack = slice.stack.flatMap { numbers.stack($0, in: &result.stacks) }
            result.slices.append(slice)
        }
    }

    // MARK: What is told of them

    private mutating func addFacts(_ part: Recording, _ numbers: inout PartNumbers) {
        for var wait in part.waits where wait.end > start {
            guard let thread = numbers[wait.thread] else { continue }
            wait.thread = thread
            wait.start = max(wait.start, start)
            wait.stack = wait.stack.flatMap { numbers.stack($0, in: &result.stacks) }
            result.waits.append(wait)
        }
        for var load in part.libraries where load.start >= start {
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
        // Of an interval that had begun, nobody could tell how long it was.
        for var interval in part.intervals where interval.start >= start {
            interval.thread = interval.thread.flatMap { numbers[$0] }
            result.intervals.append(interval)
        }
        for var signpost in part.signposts where signpost.time >= start {
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

/// What a part's threads and stacks are called in the whole.
private struct PartNumbers {
    /// nil: it is left out.
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

extension Mapping {
    /// All but when it was seen.
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
