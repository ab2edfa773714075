import ProfileModel

/// Joins slices that add nothing: a thread had no core between several looks, and stayed in one
/// place for one reason all the while. For a program with many waiting threads, most looks are of
/// this kind.
struct SliceJoiner {
    /// The last slice of each thread; the next one may belong to it.
    private var open: [Slice?] = []

    /// - Parameter slices: gets the complete ones.
    mutating func add(_ slice: Slice, into slices: inout [Slice]) {
        // A slice without time adds nothing.
        guard slice.times.wall > .zero else { return }
        let index = slice.thread.rawValue
        // A slice of no thread: the writer refuses it.
        guard index >= 0 else { return slices.append(slice) }
        while open.count <= index { open.append(nil) }
        if let joined = open[index]?.joined(with: slice) {
            open[index] = joined
        } else {
            if let last = open[index] { slices.append(last) }
            open[index] = slice
        }
    }

    /// Hands out the slices that are still open.
    mutating func flush(into slices: inout [Slice]) {
        for index in open.indices {
            if let last = open[index] { slices.append(last) }
            open[index] = nil
        }
    }
}

extension Slice {
    /// Both slices as one, if nothing is lost by it.
    fileprivate func joined(with next: Slice) -> Slice? {
        guard end == next.start, stack == next.stack, systemCall == next.systemCall,
            truncation == next.truncation, let state = times.onlyWait,
            state == next.times.onlyWait
        else { return nil }
        var result = self
        result.times = times + next.times
        return result
    }
}

extension StateTimes {
    /// The state in which the whole slice was spent. nil: there are several, or the thread ran:
    /// each look at a running thread is one more sample of its work.
    var onlyWait: ThreadState? {
        switch wall {
        case blocked: .blocked
        case runnable: .runnable
        case preempted: .preempted
        default: nil
        }
    }
}
