import ProfileModel

/// One process starts children in sequence, each after the previous one has ended, while the main
/// thread waits for all of them.
struct ChildrenInSequence: FindingRule {
    /// Shorter children do not count: starting them takes as long.
    private static let shortest = TimeSpan.milliseconds(5)
    /// The least share of a child's life for which it was waited for.
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
        // In parallel they would take as long as the longest of them.
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

    /// The children that overlap with no other, lived long enough, and were waited for.
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
