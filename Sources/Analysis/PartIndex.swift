import ProfileModel

/// Each thread's parts in the order of time. A query for a short stretch need not visit all of
/// them.
struct PartIndex {
    /// The positions of each thread's parts, by their starts.
    private let positions: [[Int32]]
    /// For each thread, whether its parts do not overlap. A thread does one thing after the other,
    /// so the ends of its parts are in order, too. false: the recording contradicts this for the
    /// thread.
    private let areApart: [Bool]

    init(_ parts: PartList, threads: Int) {
        var positions = [[Int32]](repeating: [], count: threads)
        for (position, part) in parts.enumerated() {
            positions[Int(part.thread)].append(Int32(truncatingIfNeeded: position))
        }
        for index in positions.indices {
            positions[index].putInOrder { parts[Int($0)].start < parts[Int($1)].start }
        }
        self.positions = positions
        areApart = positions.map { list in
            zip(list, list.dropFirst()).allSatisfy { parts[Int($0)].end <= parts[Int($1)].start }
        }
    }

    /// The positions of a thread's parts, by their starts.
    subscript(thread: Int) -> [Int32] { positions[thread] }

    /// Calls `body` with each part of a thread that overlaps one of the windows, and with its
    /// position. It may also call it with other parts.
    func forEach(
        of thread: Int, in parts: PartList, near windows: TimeWindows,
        _ body: (Profile.Part, Int) -> Void
    ) {
        guard areApart[thread] else {
            for (place, part) in parts.enumerated() where Int(part.thread) == thread {
                body(part, place)
            }
            return
        }
        let list = positions[thread]
        var position = 0
        for window in windows.ranges {
            let first = list.partitionIndex { parts[Int($0)].end > window.lowerBound }
            // One part may overlap several windows.
            position = max(position, first)
            while position < list.count, parts[Int(list[position])].start < window.upperBound {
                let place = Int(list[position])
                body(parts[place], place)
                position += 1
            }
        }
    }
}

extension Array {
    /// Sorts the array if it is not in order yet, as it nearly always is.
    mutating func putInOrder(_ precedes: (Element, Element) -> Bool) {
        let isInOrder = zip(self, dropFirst()).allSatisfy { !precedes($1, $0) }
        if !isInOrder { sort(by: precedes) }
    }
}
