import ProcessIO
import ProfileModel

/// The processes that the observed one starts, as the kernel's events describe them.
extension ProcessGroup {
    /// Begins, follows and ends the sessions of processes, as the news says.
    ///
    /// - Parameter end: the recording's end: no news waits any longer, and later news is dropped.
    ///   nil: the recording goes on.
    func takeNews(upTo end: MonotonicTime? = nil) {
        guard let news = main.context.tree?.news else { return }
        waitingNews = (waitingNews + news.take()).sorted { $0.time < $1.time }
        if let end { waitingNews.removeAll { $0.time > end } }
        heldBack = []
        let latest = end == nil ? main.process.now + (.zero - Self.patience) : nil
        var rest: [ProcessTreeEvents.News] = []
        for (index, item) in waitingNews.enumerated() {
            let mayWait = latest.map { item.time > $0 } ?? false
            if !serve(item, before: waitingNews[(index + 1)...], mayWait: mayWait) {
                rest.append(item)
            }
        }
        waitingNews = rest
    }

    /// How long a piece of news may wait for another one that it depends on.
    private static let patience = TimeSpan.milliseconds(4)

    /// - Parameter later: the news that comes after this one.
    /// - Returns: false: it has to wait.
    private func serve(
        _ item: ProcessTreeEvents.News, before later: ArraySlice<ProcessTreeEvents.News>,
        mayWait: Bool
    ) -> Bool {
        // The first process is followed in another way.
        if item.pid == main.pid { return true }
        if refused.contains(item.pid) {
            if item.endsImage, !item.isExec { refused.remove(item.pid) }
            return true
        }
        let isHeld: Bool
        switch item.kind {
        case .began(let creator, let handle):
            isHeld =
                heldBack.contains(creator)
                || !begin(item, of: creator, handle, mayWait: mayWait)
        case .executed(let name):
            isHeld =
                heldBack.contains(item.pid)
                || !execute(item, name, before: later, mayWait: mayWait)
        case .ended:
            isHeld = heldBack.contains(item.pid) || mayWait && sessions[item.pid] == nil
            if !isHeld {
                sessions[item.pid]?.parts.eventFollower.threadEnded(item.tid, at: item.time)
            }
        }
        if isHeld { heldBack.insert(item.pid) }
        return !isHeld
    }

    private func begin(
        _ item: ProcessTreeEvents.News, of creator: Int32, _ handle: ProcessHandle?, mayWait: Bool
    ) -> Bool {
        let isUnknown = !mayWait || refused.contains(creator)
        guard let parent = sessions[creator] ?? (isUnknown ? main : nil) else { return false }
        if item.pid == creator {
            parent.parts.eventFollower.threadBegan(item.tid, at: item.time)
            processOfThread[item.tid] = item.pid
            return true
        }
        // The kernel may reuse an id.
        if let earlier = sessions[item.pid] {
            earlier.parts.eventFollower.leave(at: item.time)
            closeIfOver(earlier)
        }
        guard let tree = main.context.tree else { return true }
        guard let session = newSession(item.pid, of: parent, at: item.time) else {
            refused.insert(item.pid)
            return true
        }
        session.parts.eventFollower.begin(
            off: sessions[creator]?.parts.eventFollower, by: tree, handle, at: item.time,
            isScheduled: main.context.scheduler.seesMachine || tree.tellsSwitches)
        return true
    }

    /// A program's arguments can be read only when the kernel has made its stack.
    private func execute(
        _ item: ProcessTreeEvents.News, _ name: String,
        before later: ArraySlice<ProcessTreeEvents.News>,
        mayWait: Bool
    ) -> Bool {
        guard let session = sessions[item.pid] else { return !mayWait }
        let isOver = later.contains { $0.pid == item.pid && $0.endsImage }
        let image = session.process.image(at: item.time)
        if image.arguments.isEmpty, mayWait, !isOver { return false }
        // The description read now may be the next program's.
        let isOthers = later.contains { $0.pid == item.pid && $0.isExec }
        session.parts.eventFollower.executed(
            isOthers ? Image(path: "", arguments: [], time: item.time) : image, called: name,
            at: item.time)
        return true
    }

    /// Passes on when the threads had a core, if there is no account of the whole machine.
    func reportSwitches(isLast: Bool = false) {
        guard let tree = main.context.tree, tree.tellsSwitches else { return }
        var found: [SchedulerRecord] = []
        for record in tree.takeSwitches(isLast: isLast) where main.threads[record.tid] == nil {
            if case .lost = record.kind {
                for thread in sessions.values.flatMap(\.threads.values) {
                    thread.saw(record)
                }
                found.append(record)
            }
            guard let thread = childsThread(record.tid) else { continue }
            thread.saw(record)
            found.append(record)
        }
        if !found.isEmpty { main.sink.receive(.scheduled(found)) }
    }

    /// A child's thread that the first process's scheduler reports.
    func childsThread(_ tid: Int32) -> TracedThread? {
        let session = sessions[tid] ?? processOfThread[tid].flatMap { sessions[$0] }
        guard let session, session.context.eventFollowed != nil else { return nil }
        return session.threads[tid]
            ?? session.context.eventFollowed?.leaving.first { $0.thread.tid == tid }?.thread
    }

    /// Forgets the threads of a process that is over: nothing more is reported of it.
    func forgetThreads(of session: ProcessSession) {
        guard session.context.eventFollowed != nil, !processOfThread.isEmpty else { return }
        processOfThread = processOfThread.filter { $0.value != session.pid }
    }
}

extension ProcessTreeEvents.News {
    fileprivate var isExec: Bool {
        if case .executed = kind { true } else { false }
    }

    /// Whether nothing can be read of a program after this.
    fileprivate var endsImage: Bool {
        switch kind {
        case .executed: true
        case .ended: tid == pid
        case .began: false
        }
    }
}
