import ProfileModel

extension TopSums {
    /// Resolved entries that no launch shows.
    var unseen: [ResolvedEntry] {
        var isSeen = [Bool](repeating: false, count: resolved.count)
        for program in programs {
            for (index, tallies) in program.resolved.tallies.enumerated()
            where tallies.newer.seen > 0 || tallies.older.seen > 0
                || program.resolved.isSuperseded[index]
            {
                isSeen[index] = true
            }
        }
        return zip(resolved, isSeen).filter { !$0.1 }.map(\.0)
    }

    /// Entries for a name that the user gave: everything of that name, or of the only name that
    /// begins with it.
    ///
    /// - Parameters:
    ///   - kind: nil: any kind.
    ///   - date: the date from which on it counts as resolved, in seconds since 1970.
    package func entries(
        resolving wanted: String, _ kind: TopKind?, date: Int64
    ) throws(TopError) -> [ResolvedEntry] {
        var names: Set<String> = []
        for program in programs {
            for key in program.things.keys where kind == nil || key.kind == kind {
                let name = program.names[key.name].function.name
                if name.hasPrefix(wanted) { names.insert(name) }
            }
        }
        guard let name = names.contains(wanted) ? wanted : names.min() else {
            throw .unknownThing(wanted)
        }
        guard names.count == 1 || name == wanted else {
            throw .severalThings(wanted, found: names.sorted())
        }
        var result: [ResolvedEntry] = []
        for program in programs {
            for (key, thing) in program.things where kind == nil || key.kind == kind {
                let function = program.names[key.name].function
                guard function.name == name else { continue }
                let entry = ResolvedEntry(
                    ResolvedEntry.Thing(key, function), since: date,
                    build: program.build(of: thing))
                if !result.contains(where: { $0.thing == entry.thing }) { result.append(entry) }
            }
        }
        return result.sorted { $0.thing.order < $1.thing.order }
    }
}

extension ProgramSums {
    /// The build of the newest launch that shows a thing, as in a list.
    fileprivate func build(of thing: Thing) -> String {
        let newest = thing.tallies.map { versions[$0.version] }
            .max { $0.last.date < $1.last.date }
        return newest?.buildID.hex ?? ""
    }
}

extension ResolvedEntry.Thing {
    fileprivate init(_ key: TopKey, _ function: Function) {
        self.init(
            key.kind, function.name, module: key.kind.isNamedAlone ? nil : function.module,
            reason: key.reason)
    }

    /// An order that does not depend on a dictionary's.
    fileprivate var order: String {
        [kind.rawValue, module ?? "", reason?.rawValue ?? ""].joined(separator: "\n")
    }
}
