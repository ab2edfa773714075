import ProfileModel

/// A function of the developer's own, with all its callees, uses much of the launch's CPU time on
/// the main thread. Where there is no own code: the function with most of the work.
struct MainThreadWork: FindingRule {
    /// Of the launch, up to readiness, without the time in which the main thread lacked a core.
    private static let leastShare = 0.2
    /// A launch with less computing than this is over soon, and most of it is what users wait for
    /// anyway: unless one function of the developer's own is a large part of it.
    private static let leastComputing = TimeSpan.milliseconds(600)
    private static let leastOwn = TimeSpan.milliseconds(100)
    /// The first applies to one job among others; the second where all work is one job, which says
    /// less.
    private static let (leastOfJob, leastOfWhole) = (0.25, 0.5)

    func findings(in search: inout FindingSearch) -> [Finding] {
        // An attached program is launched already.
        let times = Self.times(in: search)
        let isLong = times.running >= Self.leastComputing
        guard !search.profile.header.isAttached, times.running >= Self.leastOwn else { return [] }
        let windows = search.rest
        let tree = search.profile.topDown(
            search.mainThread(in: windows), weight: .cpu)
        let work = Work(tree)
        // Time in which the thread lacked a core is no fault of the program's.
        let whole = Double((search.end - times.runnable - times.preempted).nanoseconds)
        let isEnough = { (path: [Int], shareOfShort: Double) in
            let own = work.own(path).running
            let share = isLong ? Self.leastShare : shareOfShort
            return Double(own.nanoseconds) >= share * whole && (isLong || own >= Self.leastOwn)
        }
        let jobs = work.jobs.filter { isEnough($0, Self.leastOfJob) }
        let chosen =
            jobs.isEmpty ? work.wholes.filter { isEnough($0, Self.leastOfWhole) } : jobs
        guard chosen.isEmpty else {
            return chosen.compactMap { finding(work.worker(of: $0), of: work, in: windows, search) }
        }
        guard isLong else { return [] }
        return work.centre(search.profile).filter { isEnough($0, 1) }.compactMap {
            finding($0, of: work, in: windows, search)
        }
    }

    private func finding(
        _ path: [Int], of work: Work, in windows: TimeWindows, _ search: FindingSearch
    ) -> Finding? {
        guard let last = path.last else { return nil }
        let (tree, own) = (work.tree, work.own(path))
        let node = tree.nodes[last]
        // Calls of the function by others, such as an initialiser, are not this work.
        let calls = path.map { tree.frames[tree.nodes[$0].frame].function }
        guard let range = search.range(of: calls, in: windows) else { return nil }
        return Finding(
            subject: .mainThreadWork(
                withoutCore: own.runnable + own.preempted,
                mostly: Self.centre(below: last, tree, search.profile)),
            saving: own.running,
            thread: search.mainThread(at: range.lowerBound),
            range: range, place: node.frame,
            stack: path.map { tree.nodes[$0].frame } + Self.heaviest(below: last, tree))
    }

    /// The callee with most of a function's work. For a function of the developer's own, it is the
    /// one that makes the kernel work (a call that reads, memory that is touched first), or else
    /// the innermost own one with nearly all of the work; otherwise the one that says most.
    private static func centre(
        below node: Int, _ tree: CallTree, _ profile: Profile
    ) -> FrameID? {
        let own = HeaviestStack.Entry(frame: tree.nodes[node].frame, total: tree.nodes[node].total)
        let inner = entries(below: node, tree)
        guard tree.function(of: tree.nodes[node]).isOwn else {
            let stack = HeaviestStack(
                entries: [own] + inner, weight: tree.weight, total: own.total)
            return profile.centre(of: stack).flatMap { $0 == own.frame ? nil : $0 }
        }
        let kernel = inner.firstIndex { profile.frames.function(of: $0.frame).isKernel }
        if let kernel, kernel > 0,
            inner[kernel].total.running.nanoseconds * 2 >= own.total.running.nanoseconds,
            !profile.frames.function(of: inner[kernel - 1].frame).isOwn
        {
            return inner[kernel - 1].frame
        }
        // A module's top level, or a function that does little itself.
        return inner.last {
            profile.frames.function(of: $0.frame).isOwn && !profile.frames[$0.frame].isInlined
                && Double($0.total.running.nanoseconds)
                    >= mostOfIt * Double(own.total.running.nanoseconds)
        }?.frame
    }

    private static let mostOfIt = 2.0 / 3

    /// The main thread's times until readiness.
    private static func times(in search: FindingSearch) -> StateTimes {
        search.profile.times(in: search.mainThread(in: TimeWindows([.zero..<search.end])))
    }

    private static func heaviest(below node: Int, _ tree: CallTree) -> [FrameID] {
        entries(below: node, tree).map(\.frame)
    }

    /// The heaviest path inwards.
    private static func entries(below node: Int, _ tree: CallTree) -> [HeaviestStack.Entry] {
        var result: [HeaviestStack.Entry] = []
        var current = node
        while let next = tree.nodes[current].children.first(where: { !tree.isImport($0) }) {
            let node = tree.nodes[next]
            result.append(HeaviestStack.Entry(frame: node.frame, total: node.total))
            current = next
        }
        return result
    }
}

/// The main thread's call tree, divided into jobs. A node is identified by the path to it.
private struct Work {
    /// Of the CPU time: a function with this share is not one job, but all of them.
    private static let wholeShare = 0.9

    let tree: CallTree
    /// The outermost own functions that have a part of the work, not all of it.
    private(set) var jobs: [[Int]] = []
    private var jobNodes: Set<Int> = []
    /// For each root, the innermost own function that has all of its work.
    private var undivided: [Int: [Int]] = [:]

    init(_ tree: CallTree) {
        self.tree = tree
        var pending = tree.roots.reversed().map { [$0] }
        while let path = pending.popLast() {
            guard let first = path.first, let last = path.last else { continue }
            let node = tree.nodes[last]
            // Initialisers and `main` have roots of their own, and so do truncated stacks.
            let whole = Double(tree.nodes[first].total.running.nanoseconds) * Self.wholeShare
            // An inlined function is a part of its caller.
            let isOwn = tree.function(of: node).isOwn && !tree.frame(of: node).isInlined
            let isWhole = Double(node.total.running.nanoseconds) >= whole
            if isOwn, isWhole { undivided[first] = path }
            if isOwn, !isWhole {
                jobs.append(path)
                jobNodes.insert(last)
                pending += imports(below: path)
            } else {
                pending += node.children.reversed().map { path + [$0] }
            }
        }
    }

    /// The outermost imports below: their work is no part of a job, and may be a job itself.
    private func imports(below path: [Int]) -> [[Int]] {
        var (result, pending) = ([[Int]](), [path])
        while let path = pending.popLast() {
            guard let last = path.last else { continue }
            for child in tree.nodes[last].children.reversed() {
                if tree.isImport(child) {
                    result.append(path + [child])
                } else {
                    pending.append(path + [child])
                }
            }
        }
        return result
    }

    /// A path's time without that of other jobs and of imports. An import's work is not the
    /// importer's.
    func own(_ path: [Int]) -> StateTimes {
        guard let last = path.last else { return .zero }
        var own = tree.nodes[last].total
        var pending = Array(tree.nodes[last].children)
        while let node = pending.popLast() {
            if jobNodes.contains(node) || tree.isImport(node) {
                own = own - tree.nodes[node].total
            } else {
                pending += tree.nodes[node].children
            }
        }
        return own
    }

    /// A node further inward, where a job's function only passes the work on.
    func worker(of job: [Int]) -> [Int] {
        var (result, path) = (job, job)
        while let last = path.last, let next = tree.nodes[last].children.first {
            let whole = Double(tree.nodes[last].total.running.nanoseconds)
            guard tree.function(of: tree.nodes[next]).isOwn, !tree.isImport(next),
                Double(tree.nodes[next].total.running.nanoseconds) >= whole * FindingSearch.passedOn
            else { break }
            path.append(next)
            if !tree.frame(of: tree.nodes[next]).isInlined { result = path }
        }
        return result
    }

    /// Where no code is the developer's own: the path to the function with most of the work; none
    /// or one.
    func centre(_ profile: Profile) -> [[Int]] {
        guard !tree.nodes.contains(where: { tree.function(of: $0).isOwn }) else { return [] }
        var stack = HeaviestStack(entries: [], weight: tree.weight, total: tree.total)
        var path: [Int] = []
        var next = tree.roots.first
        while let node = next, !tree.isImport(node) {
            path.append(node)
            stack.entries.append(
                HeaviestStack.Entry(frame: tree.nodes[node].frame, total: tree.nodes[node].total))
            next = tree.nodes[node].children.first
        }
        guard let frame = profile.centre(of: stack),
            let last = stack.entries.lastIndex(where: { $0.frame == frame })
        else { return [] }
        return [Array(path[...last])]
    }

    /// Heaviest root first.
    var wholes: [[Int]] { tree.roots.compactMap { undivided[$0] } }
}

extension CallTree {
    fileprivate func isImport(_ node: Int) -> Bool { function(of: nodes[node]).isImport }
}
