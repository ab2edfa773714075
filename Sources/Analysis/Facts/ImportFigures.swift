package import ProfileModel

/// One import of a module by a thread. It lasts as long as the thread's stacks contain it.
package struct ImportFigures: Hashable, Sendable {
    /// The module's name, as the program wrote it.
    package var name: String
    /// Whether another thread imported it, and this one waited.
    package var isAwaited: Bool
    /// The file of the module's code; nil: no stack shows it running, or it is no script.
    package var file: String?
    /// In the profile's list.
    package var thread: Int
    /// The import whose code imported this module, in the profile's list, before this one; nil:
    /// none.
    package var parent: Int?
    /// The number of imports that it is nested in.
    package var depth: Int
    /// Since the launch's start.
    package var start: TimeSpan
    package var end: TimeSpan
    /// CPU time of its thread during the import.
    package var cpu: TimeSpan
    /// The part of that time not spent in nested imports.
    package var ownWall: TimeSpan
    package var ownCPU: TimeSpan

    package var wall: TimeSpan { end - start }

    /// The name of its frame in stacks.
    package var title: String { (isAwaited ? Function.awaits : Function.imports) + name }
}

extension Profile {
    /// Every import that a sample shows, thread by thread. Imports are in the order of their
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

    /// The imports of each thread, found from its parts.
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
