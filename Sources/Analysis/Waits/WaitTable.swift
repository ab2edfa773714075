import ProfileModel

/// A recording's waits by thread, with what slices and events need to know of them.
struct WaitTable {
    struct Entry {
        var wait: Wait
        var reason: WaitReason
        /// The line of the stack that it waited in; ``PathTable/none`` without one.
        var line: Int32
        /// The frame that names it in trees.
        var frame: FrameID
    }

    /// By thread, in the order of their starts.
    private let entries: [[Entry]]
    /// The same, as far as slices ask for it: there are as many of them as waits.
    private let places: [[Place]]

    private struct Place {
        var start: MonotonicTime
        var end: MonotonicTime
        var frame: FrameID
    }

    /// How many of the innermost functions of a stack are asked what they wait for.
    private static let askedFunctions = 6

    init(_ recording: Recording, _ expander: inout StackExpander) {
        var details = WaitDetails(recording)
        var frames = WaitFrames()
        var entries = [[Entry]](repeating: [], count: recording.threads.count)
        var namesByLine: [Int32: [String]] = [:]
        for wait in recording.waits where entries.indices.contains(wait.thread.rawValue) {
            let wait = wait.clamped
            // A wait knows no truncation: its stack is the same either way.
            let line =
                wait.stack.map { expander.line(of: $0, nil) } ?? PathTable.none
            let names =
                namesByLine[line]
                ?? expander.innermostNames(ofLine: line, most: Self.askedFunctions)
            namesByLine[line] = names
            let (reason, label) = details.complete(wait, functions: names)
            let frame = frames.frame(for: label, of: wait.systemCall, &expander)
            entries[wait.thread.rawValue].append(
                Entry(wait: wait, reason: reason, line: line, frame: frame))
        }
        let sorted = entries.map { list in list.sorted { $0.wait.start < $1.wait.start } }
        self.entries = sorted
        places = sorted.map { list in
            list.map { Place(start: $0.wait.start, end: $0.wait.end, frame: $0.frame) }
        }
    }

    /// The wait that a slice is a part of.
    func frame(for slice: Slice) -> FrameID? {
        guard slice.systemCall != nil, places.indices.contains(slice.thread.rawValue) else {
            return nil
        }
        let waits = places[slice.thread.rawValue]
        let next = waits.partitionIndex { $0.start >= slice.end }
        guard next > 0, waits[next - 1].end > slice.start else { return nil }
        return waits[next - 1].frame
    }

    /// All of them, in the order of their starts.
    var all: [Entry] {
        entries.joined().sorted {
            ($0.wait.start, $0.wait.thread) < ($1.wait.start, $1.wait.thread)
        }
    }
}

/// The frames that name waits in trees: not too many different ones.
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
