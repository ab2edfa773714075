import ProfileModel

/// One process starts very many others while the main thread waits for it. A script that searches
/// by running other programs does so.
struct ProcessStarts: FindingRule {
    static let fewest = 10
    /// A process leaves the finding to a child that started at least this share of its descendants.
    private static let passedOn = 0.8

    func findings(in search: inout FindingSearch) -> [Finding] {
        let tree = AwaitedProcesses(search)
        var found: [Finding] = []
        for process in tree.children.indices where isPlace(process, tree) {
            let started = Self.subtree(below: process, tree)
            let waited = started.reduce(into: [Range<TimeSpan>]()) {
                $0 += tree.windows(orBusy: $1).ranges
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
