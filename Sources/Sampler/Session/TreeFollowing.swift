import ProfileModel

/// The processes that the observed one starts, as the kernel's events tell of them.
extension ProcessGroup {
    /// Begins, follows and ends the sessions of those of which there is news.
    func takeNews() {
        guard let news = main.tree?.news else { return }
        waitingNews += news.take()
        heldBack = []
        var rest: [TreeNews.News] = []
        for (index, item) in waitingNews.enumerated() {
            if !serve(item, before: waitingNews[(index + 1)...]) { rest.append(item) }
        }
        waitingNews = rest
    }

    /// How long a piece of news may wait for another one that it depends on.
    private static let patience = TimeSpan.milliseconds(4)

    /// - Parameter later: what else there is to tell.
    /// - Returns: false: it has to wait.
    private func serve(
        _ item: TreeNews.News, before later: ArraySlice<TreeNews.News>
    ) -> Bool {
        let mayWait = main.process.now - item.time < Self.patience
        let isHeld: Bool
        switch item.kind {
        case .began(let creator, let handle):
            isHeld =
                heldBack.contains(creator)
                || !begin(item, of: creator, handle, mayWait: mayWait)
        case .executed:
            isHeld =
                heldBack.contains(item.pid) || !execute(item, before: later, mayWait: mayWait)
        case .ended:
            isHeld = heldBack.contains(item.pid) || mayWait && sessions[item.pid] == nil
            if !isHeld { sessions[item.pid]?.endedTold(item.tid, at: item.time) }
        }
        if isHeld { heldBack.insert(item.pid) }
        return !isHeld
    }

    private func begin(
        _ item: TreeNews.News, of creator: Int32, _ handle: ProcessHandle?, mayWait: Bool
    ) -> Bool {
        guard let parent = sessions[creator] ?? (mayWait ? nil : main) else { return false }
        if item.pid == creator {
            // Its first one's threads are found otherwise.
            if parent.told != nil { parent.beganTold(item.tid, at: item.time) }
            return true
        }
        // The kernel may give an id again.
        if let earlier = sessions[item.pid], earlier !== main {
            earlier.finishTold(mayWait: false)
            closeIfOver(earlier)
        }
        guard sessions[item.pid] == nil, let tree = main.tree,
            let session = newSession(item.pid, of: parent, at: item.time)
        else { return true }
        session.beginTold(
            off: sessions[creator], by: tree, handle, at: item.time,
            isScheduled: main.scheduler.seesMachine || tree.tellsSwitches)
        return true
    }

    /// What a program was called with shows only when the kernel has made its stack.
    private func execute(
        _ item: TreeNews.News, before later: ArraySlice<TreeNews.News>, mayWait: Bool
    ) -> Bool {
        // The first one's execs are seen otherwise.
        if item.pid == main.pid { return true }
        guard let session = sessions[item.pid] else { return !mayWait }
        let isOver = later.contains { $0.pid == item.pid && $0.endsImage }
        let image = session.process.image(at: item.time)
        if image.arguments.isEmpty, mayWait, !isOver { return false }
        // What is read now may be the next one's.
        let isOthers = later.contains { $0.pid == item.pid && $0.isExec }
        session.executedTold(
            isOthers ? Image(path: "", arguments: [], time: item.time) : image, at: item.time)
        return true
    }

    /// Hands on when the threads had a core, where no account of the whole machine tells.
    func reportSwitches(isLast: Bool = false) {
        guard let tree = main.tree, tree.tellsSwitches else { return }
        var found: [SchedulerRecord] = []
        for record in tree.takeSwitches(isLast: isLast) {
            guard let thread = childsThread(record.tid) else { continue }
            thread.tally.take(record, after: thread.clock.time)
            found.append(record)
        }
        if !found.isEmpty { main.sink.receive(.scheduled(found)) }
    }

    /// Threads of which the first process's scheduler tells.
    func childsThread(_ tid: Int32) -> TracedThread? {
        if let session = sessions[tid], session !== main, let thread = session.threads[tid] {
            return thread
        }
        for session in sessions.values where session.told != nil {
            if let thread = session.threads[tid]
                ?? session.told?.leaving.first(where: { $0.thread.tid == tid })?.thread
            {
                return thread
            }
        }
        return nil
    }
}

extension TreeNews.News {
    fileprivate var isExec: Bool {
        if case .executed = kind { true } else { false }
    }

    /// Whether what could be read of a program is gone after that.
    fileprivate var endsImage: Bool {
        switch kind {
        case .executed: true
        case .ended: tid == pid
        case .began: false
        }
    }
}
