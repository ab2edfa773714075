import ProfileModel

/// One process starts very many while the main thread waits for it: a script that looks for
/// something by programs.
struct ProcessStarts: FindingRule {
    static let fewest = 10
    /// Whose child has so much of what it started leaves the finding to that.
    private static let passedOn = 0.8

    func findings(in search: inout FindingSearch) -> [Finding] {
        let tree = AwaitedProcesses(search)
        var found: [Finding] = []
        for process in tree.children.indices where isPlace(process, tree) {
            let started = Self.subtree(below: process, tree)
            let waited = started.reduce(into: [Range<TimeSpan>]()) {
                $0 += tree.windows(of: $1).ranges
            }
            let windows = search.unclaimed(TimeWindows(waited))
            guard windows.length >= search.least else { continue }
            let evidence = ProcessEvidence(
                parent: process, processes: started, of: search.profile)
            guard let finding = search.finding(.processStarts(evidence), of: process, in: windows)
            else { continue }
            search.claim(windows)
            found.append(finding)
        }
        return found
    }

    private func isPlace(_ process: Int, _ tree: AwaitedProcesses) -> Bool {
        let count = tree.descendants[process]
        guard count >= Self.fewest else { return false }
        return tree.children[process].allSatisfy {
            Double(tree.descendants[$0]) < Self.passedOn * Double(count)
        }
    }

    private static func subtree(below process: Int, _ tree: AwaitedProcesses) -> [Int] {
        var result = tree.children[process]
        var next = 0
        while next < result.count {
            result += tree.children[result[next]]
            next += 1
        }
        return result.sorted()
    }
}

/// Children that one process starts one after the other, each after the one before has ended, while
/// the main thread waits for all of them.
struct ChildrenInSequence: FindingRule {
    /// Shorter ones do not count: to start them takes as long.
    private static let shortest = TimeSpan.milliseconds(5)
    /// How much of a child's life must have been waited for.
    private static let leastAwaited = 0.8

    func findings(in search: inout FindingSearch) -> [Finding] {
        let tree = AwaitedProcesses(search)
        return tree.children.indices.compactMap { process in
            finding(of: process, tree, &search)
        }
    }

    private func finding(
        of process: Int, _ tree: AwaitedProcesses, _ search: inout FindingSearch
    ) -> Finding? {
        let row = sequence(of: process, tree)
        guard row.count > 1,
            let longest = row.max(by: { tree.life(of: $0).length < tree.life(of: $1).length })
        else { return nil }
        // At once they would take as long as the longest of them.
        let others = row.filter { $0 != longest }
        let windows = search.unclaimed(
            TimeWindows(others.flatMap { tree.windows(of: $0).ranges }))
        guard windows.length >= search.least else { return nil }
        let evidence = ProcessEvidence(parent: process, processes: row, of: search.profile)
        guard let finding = search.finding(.childrenInSequence(evidence), of: process, in: windows)
        else { return nil }
        search.claim(windows)
        return finding
    }

    /// Those that overlap with no other, were long enough, and were waited for.
    private func sequence(of process: Int, _ tree: AwaitedProcesses) -> [Int] {
        let children = tree.children[process]
        var result: [Int] = []
        var end = TimeSpan.zero
        for (position, child) in children.enumerated() {
            let life = tree.life(of: child)
            let next = position + 1 < children.count ? tree.life(of: children[position + 1]) : nil
            let isAlone =
                life.lowerBound >= end && next.map { $0.lowerBound >= life.upperBound } ?? true
            end = max(end, life.upperBound)
            guard isAlone, life.length >= Self.shortest,
                Double(tree.windows(of: child).length.nanoseconds)
                    >= Self.leastAwaited * Double(life.length.nanoseconds)
            else { continue }
            result.append(child)
        }
        return result
    }
}

extension Range<TimeSpan> {
    fileprivate var length: TimeSpan { upperBound - lowerBound }
}
