/// The spans in which the recorder kept all threads of the program from running; and a clock that
/// leaves these spans out: for the program they never happened.
package struct HeldTime: Hashable, Sendable {
    /// In order, without overlaps.
    package private(set) var stretches: [Range<MonotonicTime>] = []

    /// - Parameter borders: each ``LaunchBorder/Kind/held`` belongs to the next
    ///   ``LaunchBorder/Kind/released``.
    package init(_ borders: [LaunchBorder]) {
        var start: MonotonicTime?
        for border in borders.filter({ $0.kind == .held || $0.kind == .released })
            .sorted(by: { $0.time < $1.time })
        {
            if border.kind == .held {
                start = start ?? border.time
            } else if let begun = start {
                if begun < border.time { stretches.append(begun..<border.time) }
                start = nil
            }
        }
    }

    package var isEmpty: Bool { stretches.isEmpty }

    /// The total held time up to a moment.
    package func total(before time: MonotonicTime) -> TimeSpan {
        var sum = TimeSpan.zero
        for stretch in stretches where stretch.lowerBound < time {
            sum = sum + (min(stretch.upperBound, time) - stretch.lowerBound)
        }
        return sum
    }

    package var total: TimeSpan {
        stretches.reduce(.zero) { $0 + ($1.upperBound - $1.lowerBound) }
    }

    /// The time on a clock that stops while the program is held.
    package func without(_ time: MonotonicTime) -> MonotonicTime {
        time + (.zero - total(before: time))
    }

    /// The times of a span that begins at `start`, without its held time. No thread ran in the held
    /// time, so it is first taken from the states that the profiler's stops count as, and then from
    /// the nearest states.
    func without(_ times: StateTimes, from start: MonotonicTime) -> StateTimes {
        let end = start + times.wall
        var excess = times.wall - (without(end) - without(start))
        var rest = times
        guard excess > .zero else { return rest }
        func take(from time: inout TimeSpan) {
            let part = min(excess, time)
            time = time - part
            excess = excess - part
        }
        take(from: &rest.preempted)
        take(from: &rest.runnable)
        take(from: &rest.blocked)
        take(from: &rest.running)
        return rest
    }
}

extension Recording {
    /// The recording on a clock that leaves out the time in which the recorder held the whole
    /// program.
    package consuming func without(_ held: HeldTime) -> Recording {
        guard !held.isEmpty else { return self }
        var result = consume self
        func move(_ time: inout MonotonicTime) { time = held.without(time) }
        for index in result.images.indices { move(&result.images[index].time) }
        for index in result.borders.indices { move(&result.borders[index].time) }
        for index in result.mappings.indices { move(&result.mappings[index].time) }
        for index in result.children.indices {
            move(&result.children[index].start)
            result.children[index].end = result.children[index].end.map(held.without)
            for image in result.children[index].images.indices {
                move(&result.children[index].images[image].time)
            }
            for border in result.children[index].borders.indices {
                move(&result.children[index].borders[border].time)
            }
        }
        for index in result.threads.indices {
            move(&result.threads[index].start)
            result.threads[index].end = result.threads[index].end.map(held.without)
        }
        for index in result.slices.indices {
            let slice = result.slices[index]
            result.slices[index].times = held.without(slice.times, from: slice.start)
            move(&result.slices[index].start)
        }
        for index in result.libraries.indices {
            let library = result.libraries[index]
            result.libraries[index].wall = library.wall.map {
                held.without(library.start + $0) - held.without(library.start)
            }
            move(&result.libraries[index].start)
        }
        for index in result.initializers.indices {
            move(&result.initializers[index].start)
            move(&result.initializers[index].end)
        }
        for index in result.intervals.indices {
            move(&result.intervals[index].start)
            move(&result.intervals[index].end)
        }
        for index in result.signposts.indices { move(&result.signposts[index].time) }
        if let ready = result.ready { result.ready?.time = held.without(ready.time) }
        for index in result.waits.indices {
            move(&result.waits[index].start)
            move(&result.waits[index].end)
        }
        result.runs.moveTimes(held.without)
        for index in result.wakeups.indices { move(&result.wakeups[index].time) }
        for index in result.priorities.indices { move(&result.priorities[index].time) }
        return result
    }
}
