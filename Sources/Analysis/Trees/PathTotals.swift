import ProfileModel

/// The times of every path of a ``PathTable`` in one selection.
struct PathTotals {
    /// Of slices whose stack ends in the path.
    private(set) var own: [StateTimes]
    /// Of slices whose stack goes through the path.
    private(set) var total: [StateTimes]
    /// The line at which each path's function had the most of `weight`.
    private(set) var hottest: [FrameID]

    init(of profile: Profile, in selection: Selection, weight: Weight) {
        let table = profile.paths
        var lines = Self.ownTimes(of: profile, in: selection, showsWaits: weight.showsWaits)
        own = [StateTimes](repeating: .zero, count: table.paths.count)
        total = own
        var bySite = [Int64](repeating: 0, count: table.sites.count)
        for index in lines.indices {
            guard lines[index] != .zero else { continue }
            let path = Int(table.path(ofLine: Int32(truncatingIfNeeded: index)))
            own[path] = own[path] + lines[index]
        }
        // Callees come after their callers: going backwards, each line is complete when it is
        // reached.
        for index in lines.indices.reversed() {
            let times = lines[index]
            guard times != .zero else { continue }
            let line = table.lines[index]
            let site = Int(line.site)
            let path = Int(table.sites[site].path)
            total[path] = total[path] + times
            bySite[site] &+= weight.of(times).nanoseconds
            if line.parent != PathTable.none {
                let parent = Int(line.parent)
                lines[parent] = lines[parent] + times
            }
        }
        hottest = Self.hottest(table, bySite: bySite)
    }

    private static func ownTimes(
        of profile: Profile, in selection: Selection, showsWaits: Bool
    ) -> [StateTimes] {
        var lines = [StateTimes](repeating: .zero, count: profile.paths.lines.count)
        profile.forEachPart(in: selection) { part in
            let line = Int(part.line)
            guard showsWaits, part.waitLine != PathTable.none else {
                lines[line] = lines[line] + part.times
                return
            }
            var active = part.times
            active.blocked = .zero
            lines[line] = lines[line] + active
            lines[Int(part.waitLine)].blocked =
                lines[Int(part.waitLine)].blocked + part.times.blocked
        }
        return lines
    }

    private static func hottest(_ table: PathTable, bySite: [Int64]) -> [FrameID] {
        var best = [Int64](repeating: -1, count: table.paths.count)
        var result = [FrameID](repeating: FrameID(0), count: table.paths.count)
        for (index, site) in table.sites.enumerated() where bySite[index] > best[Int(site.path)] {
            best[Int(site.path)] = bySite[index]
            result[Int(site.path)] = site.frame
        }
        return result
    }
}
