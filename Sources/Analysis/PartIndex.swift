import ProfileModel

/// Each thread's parts in the order of time: to look into a short stretch, not all of them have to
/// be gone through.
struct PartIndex {
    /// The positions of each thread's parts. A thread does one thing after the other, so their
    /// ends are in order, too; nil for one of which a recording says something else.
    private let positions: [[Int32]?]

    init(_ parts: [Profile.Part], threads: Int) {
        var positions = [[Int32]](repeating: [], count: threads)
        for (position, part) in parts.enumerated() {
            positions[Int(part.thread)].append(Int32(truncatingIfNeeded: position))
        }
        self.positions = positions.map { list in
            let sorted = list.sorted { left, right in
                let (left, right) = (parts[Int(left)], parts[Int(right)])
                return (left.start, left.end) < (right.start, right.end)
            }
            let areApart = zip(sorted, sorted.dropFirst()).allSatisfy { earlier, later in
                parts[Int(earlier)].end <= parts[Int(later)].start
            }
            return areApart ? sorted : nil
        }
    }

    /// Calls `body` with each part of a thread that overlaps one of the windows, and maybe with
    /// others.
    func forEach(
        of thread: Int, in parts: [Profile.Part], near windows: TimeWindows,
        _ body: (Profile.Part) -> Void
    ) {
        guard let list = positions[thread] else {
            for part in parts where Int(part.thread) == thread { body(part) }
            return
        }
        var position = 0
        for window in windows.ranges {
            let first = list.partitionIndex { parts[Int($0)].end > window.lowerBound }
            // One part may reach into several windows.
            position = max(position, first)
            while position < list.count, parts[Int(list[position])].start < window.upperBound {
                body(parts[Int(list[position])])
                position += 1
            }
        }
    }
}
