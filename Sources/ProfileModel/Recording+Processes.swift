extension Recording {
    /// What was observed of one child alone, as a recording of that process. Modules, stacks and
    /// symbols stay those of all, for they say nothing of whose they are.
    ///
    /// What its children did is not in it.
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
        result.marks = process.launchMarks
        return result
    }

    /// What was observed of the recorded process, without its children.
    package var withoutChildren: Recording {
        guard !children.isEmpty else { return self }
        var result = only(of: nil, header)
        result.images = images
        result.marks = marks
        result.ready = ready
        result.notes = notes
        return result
    }

    /// Whose a thread is; nil: the recorded process's, or nobody's.
    package func child(of thread: ThreadIndex) -> ChildIndex? {
        threads.indices.contains(thread.rawValue) ? threads[thread.rawValue].child : nil
    }

    /// The same, but of libraries, initialisers, intervals and signposts the recorded process's own:
    /// those of twenty processes in one list say nothing of a launch.
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
        // Known of all together: nothing is said of one.
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
        /// Those of the process's threads, which go by another number here.
        func own<Row>(_ rows: [Row], _ thread: WritableKeyPath<Row, ThreadIndex>) -> [Row] {
            rows.compactMap { row in
                guard let place = place(row[keyPath: thread]) else { return nil }
                var own = row
                own[keyPath: thread] = place
                return own
            }
        }
        /// Those that say whose they are.
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
            // Names of a recording's own threads are not stored with their wake-ups.
            if place(waker) == nil, threads.indices.contains(waker.rawValue) {
                result.wakeups[index].wakerName = threads[waker.rawValue].name
            }
        }
        return result
    }
}

extension ChildProcess {
    /// Those that it ran itself: a child that executes a program did not launch its parent's, of
    /// which it is a copy until then.
    package var launchImages: [Image] { images.count > 1 ? Array(images.dropFirst()) : images }

    /// The marks that go with ``launchImages``.
    package var launchMarks: [Mark] {
        guard images.count > 1 else { return marks }
        var result = marks
        for kind in [Mark.Kind.firstInstruction, .main] {
            if let index = result.firstIndex(where: { $0.kind == kind }),
                result[index].time < images[1].time
            {
                result.remove(at: index)
            }
        }
        return result
    }
}
