package import ProfileModel

/// The particulars of one thread's waits of one kind at one place in the code.
package struct WaitEvidence: Hashable, Sendable {
    package var kind: Finding.Kind
    package var count: Int
    /// The objects waited for, in the order of time, each once: paths, addresses, commands, locks.
    package var things: [String]
    /// The thread whose work or lock was waited for; nil: there is none, or it is not known.
    package var counterpart: Counterpart?
    /// The number of threads with the counterpart's name that were waited for in turn, including
    /// it; 0: none is known.
    package var counterparts = 0
    /// The time spent waiting for each of the things; empty: not known.
    package var lengths: [TimeSpan] = []
    /// A process that the waiting process had started and that lived for at least half of the
    /// waiting time: a program that polls its child for its end waits for the child. In the
    /// profile's list; nil: none.
    package var child: Int?
}

/// The waits of one thread, grouped by kind and place.
struct WaitGroups {
    struct Group {
        var kind: Finding.Kind
        /// The longest of them.
        var longest: WaitFigures
        /// Of the longest.
        var place: FrameID
        var stack: [FrameID]
        var windows = TimeWindows([])
        var count = 0
        var things: [String] = []
        /// For each thing, its total waiting time.
        var lengths: [TimeSpan] = []
        /// The threads that were waited for.
        var peers: Set<Int32> = []
    }

    fileprivate struct Key: Hashable {
        var kind: Finding.Kind
        /// nil for waits for pages, which any function may have.
        var function: FunctionID?
        /// Two locks are two causes, and so are two threads.
        var owner: Int32?
        /// Except for threads of one name, as in a pool, that are waited for in turn.
        var name: String?
    }

    /// In the order of their first waits.
    private(set) var groups: [Group] = []

    /// - Parameters:
    ///   - time: the part of the waits that counts; nil: all.
    ///   - isAwaited: whether the launch is known to wait for the thread: then it is not ready as
    ///     long as the thread polls.
    init(
        of thread: Int, within time: TimeWindows? = nil, isAwaited: Bool = false,
        in search: FindingSearch
    ) {
        var positions: [Key: Int] = [:]
        var windows: [[Range<TimeSpan>]] = []
        let time = time ?? TimeWindows([.zero..<search.end])
        var things: [[String: Int]] = []
        // Most waits of a thread are in a few places.
        var stacks: [Int32: (frames: [FrameID], place: FrameID?)] = [:]
        for wait in search.waits(of: thread) {
            let window = time.clamped(to: search.window(from: wait.start, to: wait.end)).ranges
            guard !window.isEmpty,
                let kind = Self.kind(of: wait, isAwaited: isAwaited, in: search)
            else { continue }
            let stack =
                stacks[wait.line]
                ?? { frames in (frames, search.place(in: frames)) }(search.profile.stack(of: wait))
            stacks[wait.line] = stack
            guard let place = stack.place else { continue }
            let group = Group(kind: kind, longest: wait, place: place, stack: stack.frames)
            let key = Key(group, in: search)
            let position = positions[key] ?? groups.count
            if position == groups.count {
                positions[key] = position
                groups.append(group)
                windows.append([])
                things.append([:])
            }
            groups[position].add(group)
            windows[position] += window
            guard let thing = wait.reason.detail else { continue }
            let known = things[position][thing] ?? groups[position].things.count
            if known == groups[position].things.count {
                things[position][thing] = known
                groups[position].things.append(thing)
                groups[position].lengths.append(.zero)
            }
            groups[position].lengths[known] =
                window.reduce(groups[position].lengths[known]) {
                    $0 + $1.upperBound - $1.lowerBound
                }
        }
        for index in groups.indices { groups[index].windows = TimeWindows(windows[index]) }
        joinTimedLooks(in: search)
    }

    /// A thread that polls for another one's end waits for that thread, even where a time-out ended
    /// the wait.
    private mutating func joinTimedLooks(in search: FindingSearch) {
        func function(of group: Group) -> FunctionID { search.profile.frames[group.place].function }
        for look in groups.indices.reversed() where groups[look].isTimedLook {
            let place = function(of: groups[look])
            let same = groups.indices.filter {
                groups[$0].kind == .threadWait && function(of: groups[$0]) == place
            }
            guard
                let awaited = same.max(by: { groups[$0].windows.length < groups[$1].windows.length }
                )
            else { continue }
            groups[awaited].count += groups[look].count
            groups[awaited].windows = TimeWindows(
                groups[awaited].windows.ranges + groups[look].windows.ranges)
            groups.remove(at: look)
        }
    }

    /// nil: the launch need not avoid this wait. A program that waits for people, for clients or
    /// for any next event is ready.
    private static func kind(
        of wait: WaitFigures, isAwaited: Bool, in search: FindingSearch
    ) -> Finding.Kind? {
        // A wait that the end of the recording cut short may be the program's usual idling. A wait
        // for a lock is not.
        let isReadyKnown = search.profile.ready != nil
        guard
            isReadyKnown || wait.reason.kind == .lock || wait.end < search.profile.launch.wall
        else { return nil }
        guard !isForWork(wait, in: search), !search.profile.mainThread.isHandover(wait) else {
            return nil
        }
        switch wait.reason.kind {
        case .lock: return .lockWait
        case .condition: return .threadWait
        case .sleep: return isOfGoScheduler(wait, in: search) ? nil : .sleep
        case .file, .ioUring: return .fileWait
        case .disk: return .diskWait
        case .child: return .childWait
        case .pipe: return .pipeWait
        case .socket:
            return wait.reason.detail?.hasPrefix("listening") == true ? nil : .networkWait
        case .poll:
            if isOneConnection(wait.reason.detail) { return .networkWait }
            if isForOutput(wait, in: search) { return .pipeWait }
            let isKnown = isReadyKnown || isAwaited
            if wait.reason.isTimedOut, !hasPeers(wait.reason.detail) {
                return isKnown || search.profile.header.outcome != .running ? .sleep : nil
            }
            return isKnown ? .pollWait : nil
        case .other: return isForThread(wait, in: search) ? .threadWait : nil
        case .terminal, .signal, .stopped, .frozen: return nil
        }
    }

    /// Whether it is the wait of a program that is ready: for clients, or for the next event.
    private static func isForWork(_ wait: WaitFigures, in search: FindingSearch) -> Bool {
        guard [.poll, .socket].contains(wait.reason.kind) else { return false }
        if wait.reason.detail?.contains("socket listening") == true { return true }
        return search.profile.ready.map { wait.start < $0.time && wait.end >= $0.time } ?? false
    }

    /// Whether a plain futex wait, or a page fault, is for a thread. The call itself does not say
    /// so. But the thread that ended the wait does, if it is of the same process.
    private static func isForThread(_ wait: WaitFigures, in search: FindingSearch) -> Bool {
        let profile = search.profile
        guard let detail = wait.reason.detail, let waker = wait.endedBy,
            detail.hasPrefix("futex") || wait.reason == .pageFault,
            let other = profile.threads.lastIndex(where: {
                $0.tid == waker.tid && $0.start <= wait.end
            }),
            other != wait.thread, profile.threads[other].child == profile.threads[wait.thread].child
        else { return false }
        return !isOfGoScheduler(wait, in: search)
    }

    /// Go's scheduler parks threads while their goroutines continue on other threads.
    private static func isOfGoScheduler(_ wait: WaitFigures, in search: FindingSearch) -> Bool {
        search.profile.stack(of: wait).contains {
            search.profile.frames.function(of: $0).name.hasPrefix("runtime.futex")
        }
    }

    /// Whether another process ended it by writing to a pipe, and nothing else was waited for: a
    /// program reads a child's output and errors. An event loop's own pipe is written to by its own
    /// threads.
    private static func isForOutput(_ wait: WaitFigures, in search: FindingSearch) -> Bool {
        let profile = search.profile
        guard let detail = wait.reason.detail, let waker = wait.endedBy,
            let list = detail.firstRange(of: ": ").map({ detail[$0.upperBound...] })
        else { return false }
        let isOwn = profile.threads.contains {
            $0.tid == waker.tid && $0.child == profile.threads[wait.thread].child
        }
        // With many children, their work is a subject of its own.
        let children = profile.processes.count {
            $0.parent == 0 && $0.start < wait.end && $0.end ?? wait.end > wait.start
        }
        return !isOwn && children <= 1 && list.split(separator: ", ").allSatisfy { $0 == "pipe" }
    }

    /// Whether the thread may be waiting for a peer's answer.
    private static func hasPeers(_ detail: String?) -> Bool {
        let names = detail?.withoutTimeout.split(separator: ": ", maxSplits: 1).dropFirst().first
        return names?.split(separator: ", ").contains {
            $0.hasPrefix("socket ") && !$0.hasPrefix("socket listening")
        } ?? false
    }

    /// Whether the wait is for a single TCP or UDP peer, as when a program asks a name server.
    /// Event loops poll more descriptors, or a display's socket.
    private static func isOneConnection(_ detail: String?) -> Bool {
        let prefix = "1 descriptor: socket "
        guard let detail, detail.hasPrefix(prefix) else { return false }
        let peer = detail.dropFirst(prefix.count)
        return !peer.hasPrefix("listening") && !peer.hasPrefix("/") && !peer.hasPrefix("@")
    }
}

extension WaitGroups.Group {
    /// Whether it is a polling sleep: only time-outs of a wait for something ended it, and no sleep
    /// for a set time.
    fileprivate var isTimedLook: Bool {
        kind == .sleep && !things.isEmpty
            && things.allSatisfy { $0.contains(WaitReason.timeout) }
    }

    fileprivate mutating func add(_ other: Self) {
        count += 1
        if kind == .threadWait, let peer = other.longest.peer { peers.insert(peer) }
        guard other.longest.duration > longest.duration else { return }
        (longest, place, stack) = (other.longest, other.place, other.stack)
    }

    func evidence(_ counterpart: Counterpart?) -> WaitEvidence {
        WaitEvidence(
            kind: kind, count: count, things: things, counterpart: counterpart,
            counterparts: counterpart == nil ? 0 : peers.count, lengths: lengths)
    }
}

extension WaitGroups.Key {
    fileprivate init(_ group: WaitGroups.Group, in search: FindingSearch) {
        let wait = group.longest
        let isForThread = group.kind == .threadWait
        let peer = isForThread || group.kind == .lockWait ? wait.peer : nil
        let name = peer.flatMap { search.thread($0, at: wait) }
            .map { search.profile.threads[$0].name }
        self.init(
            kind: group.kind,
            function: group.kind == .diskWait
                ? nil : search.profile.frames[group.place].function,
            owner: isForThread && name != nil ? nil : peer, name: isForThread ? name : nil)
    }
}

extension WaitFigures {
    /// The thread that held the lock, or ended the wait; nil: not known.
    fileprivate var peer: Int32? { reason.owner ?? endedBy?.tid }
}
