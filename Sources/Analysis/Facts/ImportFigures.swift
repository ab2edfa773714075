package import ProfileModel

/// One import of a module by a thread: as long as its stacks had it.
package struct ImportFigures: Hashable, Sendable {
    /// The module's, as the program wrote it.
    package var name: String
    /// Whether another thread imported it, and this one waited.
    package var isAwaited: Bool
    /// Where the module's code is; nil: it was not seen to run, or it is no script.
    package var file: String?
    /// In the profile's list.
    package var thread: Int
    /// The import that brought it, in the profile's list, before this one; nil: none.
    package var parent: Int?
    /// How many imports it is within.
    package var depth: Int
    /// Since the launch's start.
    package var start: TimeSpan
    package var end: TimeSpan
    /// CPU time of its thread meanwhile.
    package var cpu: TimeSpan
    /// Of that time, what was not spent in the imports that it brought.
    package var ownWall: TimeSpan
    package var ownCPU: TimeSpan

    package var wall: TimeSpan { end - start }

    /// As stacks have it.
    package var title: String { (isAwaited ? Function.awaits : Function.imports) + name }
}

extension Profile {
    /// Every import of which a stack was taken, thread by thread. They are in the order of their
    /// starts, the outer first.
    package func importRuns() -> [ImportFigures] {
        var result: [ImportFigures] = []
        for search in importSearches(ImportSteps(paths, frames)) {
            let first = result.count
            result += search.found.map { found in
                var found = found
                found.parent = found.parent.map { $0 + first }
                return found
            }
        }
        return result
    }

    /// What each thread's parts tell of its imports.
    func importSearches(_ steps: ImportSteps) -> [ImportSearch] {
        guard !steps.isEmpty else { return [] }
        return threads.indices.map { thread in
            var search = ImportSearch(steps, thread: thread)
            for position in partIndex[thread] {
                let part = parts[Int(position)]
                search.add(part, at: position, path: paths.path(ofLine: part.line))
            }
            search.finish()
            return search
        }
    }
}
