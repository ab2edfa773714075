import ProfileModel

/// A recording's waits by thread, with the data that slices and events need.
struct WaitTable {
    /// There are many entries, so they are as small as possible.
    struct Entry {
        var start: MonotonicTime
        var end: MonotonicTime
        /// In the recording's list.
        fileprivate(set) var wait: Int32
        /// In ``reasons``.
        fileprivate(set) var reason: Int32
        /// The line of the stack in which it waited; ``PathTable/none`` without one.
        var line: Int32
        /// The frame that names it in trees.
        var frame: FrameID
    }

    /// By thread, in the order of their starts.
    private var entries: [[Entry]]
    private var reasons = WaitReasons()
    /// For each thread, the position of the last slice's wait. Slices come nearly in the order of
    /// time, so the next one's wait is close by.
    private var places: [Int]

    /// All properties that a wait's texts depend on. Most waits are like many others.
    private struct Kind: Hashable {
        let reason: WaitReason
        let systemCall: Int32
        let line: Int32
        let child: ChildIndex?

        init(_ wait: Wait, line: Int32, child: ChildIndex?) {
            (reason, systemCall, self.line) = (wait.reason, wait.systemCall, line)
            self.child = child
        }
    }

    /// The number of kinds whose texts are kept.
    private static let mostKnown = 4096

    /// The number of innermost functions of a stack that are checked for the reason.
    private static let askedFunctions = 6

    init(_ recording: Recording, _ expander: inout StackExpander) {
        var details = WaitDetails(recording)
        var frames = WaitFrames()
        entries = [[Entry]](repeating: [], count: recording.threads.count)
        var known: [Kind: (reason: Int32, frame: FrameID)] = [:]
        for (position, wait) in recording.waits.enumerated()
        where entries.indices.contains(wait.thread.rawValue) {
            let wait = wait.clamped
            // A wait has no truncation: its stack is the same either way.
            let line =
                wait.stack.map { expander.line(of: $0, nil) } ?? PathTable.none
            let kind = Kind(wait, line: line, child: recording.child(of: wait.thread))
            let words: (reason: Int32, frame: FrameID)
            if let found = known[kind] {
                words = found
            } else {
                let names = expander.innermostNames(ofLine: line, most: Self.askedFunctions)
                let (reason, label) = details.complete(wait, functions: names)
                words = (
                    reasons.index(of: reason),
                    frames.frame(for: label, of: wait.systemCall, &expander)
                )
                if known.count < Self.mostKnown { known[kind] = words }
            }
            entries[wait.thread.rawValue].append(
                Entry(
                    start: wait.start, end: wait.end, wait: Int32(truncatingIfNeeded: position),
                    reason: words.reason, line: line, frame: words.frame))
        }
        for thread in entries.indices { entries[thread].putInOrder { $0.start < $1.start } }
        places = [Int](repeating: 0, count: entries.count)
    }

    /// The wait that a slice is a part of.
    mutating func frame(for slice: Slice) -> FrameID? {
        let thread = slice.thread.rawValue
        guard slice.systemCall != nil, entries.indices.contains(thread) else { return nil }
        let next = entries[thread].partitionIndex(near: places[thread]) { $0.start >= slice.end }
        places[thread] = next
        guard next > 0 else { return nil }
        let wait = entries[thread][next - 1]
        return wait.end > slice.start ? wait.frame : nil
    }

    /// All waits, in the order of their starts, each with its recorded data.
    func map<Value>(
        of recording: Recording, _ transform: (Wait, WaitReason, Entry) -> Value
    ) -> [Value] {
        let places = entries.indices.flatMap { thread in
            entries[thread].indices.map { (thread: thread, index: $0) }
        }
        let sorted = places.sorted { left, right in
            (entries[left.thread][left.index].start, left.thread)
                < (entries[right.thread][right.index].start, right.thread)
        }
        return sorted.map { place in
            let entry = entries[place.thread][place.index]
            return transform(
                recording.waits[Int(entry.wait)].clamped, reasons[entry.reason], entry)
        }
    }
}

/// The different reasons of many waits.
private struct WaitReasons {
    private var list: [WaitReason] = []
    private var known: [WaitReason: Int32] = [:]

    subscript(index: Int32) -> WaitReason { list[Int(index)] }

    mutating func index(of reason: WaitReason) -> Int32 {
        if let index = known[reason] { return index }
        let index = Int32(truncatingIfNeeded: list.count)
        list.append(reason)
        known[reason] = index
        return index
    }
}

/// The frames that name waits in trees; their number is limited.
private struct WaitFrames {
    private var known: [WaitReason: FrameID] = [:]
    private static let most = 256

    mutating func frame(
        for label: WaitReason, of systemCall: Int32, _ expander: inout StackExpander
    ) -> FrameID {
        if let frame = known[label] { return frame }
        guard known.count < Self.most else {
            return expander.frame(of: .wait(for: WaitReason(label.kind), in: systemCall))
        }
        let frame = expander.frame(of: .wait(for: label, in: systemCall))
        known[label] = frame
        return frame
    }
}

extension Wait {
    /// As ``Slice/clamped``.
    fileprivate var clamped: Wait {
        var result = self
        result.start = start.clamped
        result.end = max(result.start, end.clamped)
        return result
    }
}
