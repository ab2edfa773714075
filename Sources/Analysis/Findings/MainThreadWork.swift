import ProfileModel

/// A function of the developer's own, with all that it calls, computes for a large part of the
/// launch on the main thread.
struct MainThreadWork: FindingRule {
    /// Of the launch, up to readiness.
    private static let leastShare = 0.2
    /// What has less than this to compute is there soon, and most of it is what people wait for.
    private static let leastComputing = TimeSpan.milliseconds(600)

    func findings(in search: inout FindingSearch) -> [Finding] {
        // An attached program is launched already.
        guard !search.profile.header.isAttached, Self.computing(in: search) >= Self.leastComputing
        else { return [] }
        let windows = search.rest
        let tree = search.profile.topDown(
            search.mainThread(in: windows), weight: .cpu)
        let work = Work(tree)
        let least = TimeSpan(
            nanoseconds: Int64(Double(search.end.nanoseconds) * Self.leastShare))
        let jobs = work.jobs.filter { work.active($0) >= least }
        let chosen = jobs.isEmpty ? work.wholes.filter { work.left(of: $0) >= least } : jobs
        return chosen.compactMap { finding(work.worker(of: $0), of: tree, in: windows, search) }
    }

    private func finding(
        _ path: [Int], of tree: CallTree, in windows: TimeWindows, _ search: FindingSearch
    ) -> Finding? {
        guard let last = path.last else { return nil }
        let node = tree.nodes[last]
        let function = tree.frames[node.frame].function
        guard let range = search.range(of: function, in: windows) else { return nil }
        return Finding(
            subject: .mainThreadWork(cpu: node.total.running),
            saving: node.total.wall - node.total.blocked,
            thread: search.mainThread(at: range.lowerBound),
            range: range, place: node.frame,
            stack: path.map { tree.nodes[$0].frame } + Self.heaviest(below: last, tree))
    }

    /// CPU time of the main thread until readiness.
    private static func computing(in search: FindingSearch) -> TimeSpan {
        let windows = TimeWindows([.zero..<search.end])
        return search.profile.times(in: search.mainThread(in: windows)).running
    }

    private static func heaviest(below node: Int, _ tree: CallTree) -> [FrameID] {
        var result: [FrameID] = []
        var current = node
        while let next = tree.nodes[current].children.first {
            result.append(tree.nodes[next].frame)
            current = next
        }
        return result
    }
}

/// The main thread's call tree, divided into jobs. Nodes are given by the paths to them.
private struct Work {
    /// Of the CPU time: a function that has as much is not one job, but all of them.
    private static let wholeShare = 0.9

    let tree: CallTree
    /// The outermost own functions that have a part of the work, not all of it.
    private(set) var jobs: [[Int]] = []
    /// Of each root, the innermost own function that has all of its work.
    private var undivided: [Int: [Int]] = [:]

    init(_ tree: CallTree) {
        self.tree = tree
        var pending = tree.roots.reversed().map { [$0] }
        while let path = pending.popLast() {
            guard let first = path.first, let last = path.last else { continue }
            let node = tree.nodes[last]
            // Initialisers and `main` have roots of their own, and so do truncated stacks.
            let whole = Double(tree.nodes[first].total.running.nanoseconds) * Self.wholeShare
            // What was inlined is a part of its caller.
            let isOwn = tree.function(of: node).isOwn && !tree.frame(of: node).isInlined
            let isWhole = Double(node.total.running.nanoseconds) >= whole
            if isOwn, isWhole { undivided[first] = path }
            if isOwn, !isWhole {
                jobs.append(path)
            } else {
                pending += node.children.reversed().map { path + [$0] }
            }
        }
    }

    /// Its time without waits.
    func active(_ path: [Int]) -> TimeSpan {
        path.last.map { tree.nodes[$0].total.wall - tree.nodes[$0].total.blocked } ?? .zero
    }

    /// Further inward, where a job's function only passes the work on.
    func worker(of job: [Int]) -> [Int] {
        var (result, path) = (job, job)
        while let last = path.last, let next = tree.nodes[last].children.first {
            let whole = Double(tree.nodes[last].total.running.nanoseconds)
            guard tree.function(of: tree.nodes[next]).isOwn,
                Double(tree.nodes[next].total.running.nanoseconds) >= whole * FindingSearch.passedOn
            else { break }
            path.append(next)
            if !tree.frame(of: tree.nodes[next]).isInlined { result = path }
        }
        return result
    }

    /// Heaviest root first.
    var wholes: [[Int]] { tree.roots.compactMap { undivided[$0] } }

    /// What of it is in none of the jobs, and in no import: there are findings about those.
    func left(of path: [Int]) -> TimeSpan {
        let jobs = Set(jobs.compactMap(\.last))
        var left = active(path)
        var pending = path.last.map { Array(tree.nodes[$0].children) } ?? []
        while let node = pending.popLast() {
            if jobs.contains(node) || tree.function(of: tree.nodes[node]).isImport {
                left = left - active([node])
            } else {
                pending += tree.nodes[node].children
            }
        }
        return left
    }
}
