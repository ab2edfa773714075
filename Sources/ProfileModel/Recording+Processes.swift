extension Recording {
    /// The data of one child alone, as a recording of that process. Modules, stacks and symbols
    /// stay complete, since they do not depend on the process.
    ///
    /// It does not include the child's own children.
    package func only(_ child: ChildIndex) -> Recording? {
        guard children.indices.contains(child.rawValue) else { return nil }
        let process = children[child.rawValue]
        var header = header
        header.pid = process.pid
        header.isAttached = false
        header.capture = process.capture ?? header.capture
        header.outcome = process.outcome
        var result = only(of: child, header)
        result.images = process.launchImages
        result.borders = process.launchBorders
        return result
    }

    /// The data of the recorded process, without its children.
    package var withoutChildren: Recording {
        guard !children.isEmpty else { return self }
        var result = only(of: nil, header)
        result.images = images
        result.borders = borders
        result.ready = ready
        result.notes = notes
        return result
    }

    /// The child that a thread belongs to; nil: the recorded process, or none.
    package func child(of thread: ThreadIndex) -> ChildIndex? {
        threads.indices.contains(thread.rawValue) ? threads[thread.rawValue].child : nil
    }

    /// The same recording, but with only the recorded process's own libraries, initialisers,
    /// intervals and signposts: a list from twenty processes says nothing about one launch.
    package consuming func withOwnFacts() -> Recording {
        guard !children.isEmpty else { return self }
        var result = consume self
        result.libraries.removeAll { $0.child != nil }
        let threads = result.threads
        result.initializers.removeAll {
            threads.indices ~= $0.thread.rawValue && threads[$0.thread.rawValue].child != nil
        }
        result.intervals.removeAll { $0.child != nil }
        result.signposts.removeAll { $0.child != nil }
        return result
    }

    private func only(of child: ChildIndex?, _ header: Header) -> Recording {
        var result = Recording(header: header)
        // Known only for all processes together, so not for one.
        result.header.heldByProfiler = .zero
        (result.modules, result.stacks, result.symbols) = (modules, stacks, symbols)
        var places = [ThreadIndex?](repeating: nil, count: threads.count)
        for (index, thread) in threads.enumerated() where thread.child == child {
            places[index] = ThreadIndex(result.threads.count)
            var own = thread
            own.child = nil
            result.threads.append(own)
        }
        func place(_ thread: ThreadIndex) -> ThreadIndex? {
            places.indices.contains(thread.rawValue) ? places[thread.rawValue] : nil
        }
        /// The rows of the process's threads, with their new numbers.
        func own<Row>(_ rows: [Row], _ thread: WritableKeyPath<Row, ThreadIndex>) -> [Row] {
            rows.compactMap { row in
                guard let place = place(row[keyPath: thread]) else { return nil }
                var own = row
                own[keyPath: thread] = place
                return own
            }
        }
        /// The rows that name their process.
        func own<Row>(_ rows: [Row], _ whose: WritableKeyPath<Row, ChildIndex?>) -> [Row] {
            rows.filter { $0[keyPath: whose] == child }.map { row in
                var own = row
                own[keyPath: whose] = nil
                return own
            }
        }
        result.mappings = own(mappings, \.child)
        result.libraries = own(libraries, \.child)
        result.intervals = own(intervals, \.child)
        result.signposts = own(signposts, \.child)
        for index in result.intervals.indices {
            result.intervals[index].thread = result.intervals[index].thread.flatMap(place)
        }
        for index in result.signposts.indices {
            result.signposts[index].thread = result.signposts[index].thread.flatMap(place)
        }
        result.slices = own(slices, \.thread)
        result.initializers = own(initializers, \.thread)
        result.waits = own(waits, \.thread)
        result.priorities = own(priorities, \.thread)
        result.runs = runs.of(place)
        result.wakeups = own(wakeups, \.thread)
        for index in result.wakeups.indices {
            guard let waker = result.wakeups[index].wakerThread else { continue }
            result.wakeups[index].wakerThread = place(waker)
            // For a recording's own threads, wake-ups do not store names.
            if place(waker) == nil, threads.indices.contains(waker.rawValue) {
                result.wakeups[index].wakerName = threads[waker.rawValue].name
            }
        }
        return result
    }
}

extension ChildProcess {
    /// The programs that it executed itself. Until a child executes a program it is a copy of its
    /// parent, whose program it did not launch.
    package var launchImages: [Image] { images.count > 1 ? Array(images.dropFirst()) : images }

    /// The borders that belong to ``launchImages``.
    package var launchBorders: [LaunchBorder] {
        guard images.count > 1 else { return borders }
        var result = borders
        for kind in [LaunchBorder.Kind.firstInstruction, .main] {
            if let index = result.firstIndex(where: { $0.kind == kind }),
                result[index].time < images[1].time
            {
                result.remove(at: index)
            }
        }
        return result
    }
}
