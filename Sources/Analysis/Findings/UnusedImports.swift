package import ProfileModel

/// The particulars of a module that the launch imported although no sample shows its use.
package struct ImportEvidence: Hashable, Sendable {
    /// The module's name.
    package var module: String
    /// CPU time of its import, with nested imports.
    package var cpu: TimeSpan
    /// Modules that its import loaded and that samples show at work later: not counted in `cpu`.
    package var used: [String]
}

/// A module is imported at a cost, and no sample shows any of its functions afterwards, although
/// the program went on for as long.
struct UnusedImports: FindingRule {
    func findings(in search: inout FindingSearch) -> [Finding] {
        guard !search.profile.header.isMuchMissed, let start = search.programStart,
            let scripts = ScriptPaths(search.profile)
        else { return [] }
        let sightings = ScriptSightings(scripts, in: search, from: start)
        let costs = ImportCosts(scripts.imports, in: search)
        var found: [Finding] = []
        var pending = costs.roots
        while let node = pending.popLast() {
            guard costs.total(node) >= search.least else { continue }
            if let finding = Self.finding(node, costs, sightings, scripts, &search) {
                found.append(finding)
            } else {
                pending += costs.children[node]
            }
        }
        return found
    }

    private static func finding(
        _ node: Int, _ costs: ImportCosts, _ sightings: ScriptSightings, _ scripts: ScriptPaths,
        _ search: inout FindingSearch
    ) -> Finding? {
        // If a program ends soon after its imports, nothing can be said about them.
        guard let line = costs.heaviestLine(in: node),
            sightings.worked(since: costs.end(of: node)) >= search.least,
            sightings.isUnused(search.moduleName(costs.step(node)), since: costs.end(of: node)),
            costs.isTheProgramsDoing(node, search, sightings)
        else { return nil }
        let used = costs.usedBelow(node) {
            sightings.isUsed(search.moduleName(costs.step($0)), since: costs.end(of: $0))
        }
        let parts = costs.parts(of: node, without: used)
        let windows = TimeWindows(parts.map { $0.start..<$0.end })
        let times = parts.reduce(StateTimes.zero) { $0 + $1.times }
        guard times.effort >= search.least, windows.length >= search.least,
            let range = windows.span,
            let importer = search.importer(of: costs.step(node), ofLine: line, scripts)
        else { return nil }
        search.claim(windows)
        return Finding(
            subject: .unusedImport(
                ImportEvidence(
                    module: search.moduleName(costs.step(node)), cpu: times.running,
                    used: used.map { search.moduleName(costs.step($0)) }.distinct)),
            saving: windows.length, thread: search.mainThread(at: range.lowerBound),
            range: range, place: importer.place, stack: importer.stack)
    }
}

extension [String] {
    fileprivate var distinct: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}
