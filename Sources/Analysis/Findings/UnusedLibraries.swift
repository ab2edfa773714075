import ProfileModel

/// A library is loaded and initialised at a cost, and no later stack shows its code. If one heavy
/// initialiser or a `dlopen` is the cost, that is the finding.
struct UnusedLibraries: FindingRule {
    func findings(in search: inout FindingSearch) -> [Finding] {
        var found: [Finding] = []
        for library in search.profile.libraries where library.used == false {
            let runs = Self.initializers(of: library, in: search)
            let whole = TimeWindows(runs.map { search.window(from: $0.start, to: $0.end) })
            let windows = search.unclaimed(whole)
            guard let heaviest = runs.max(by: { $0.wall < $1.wall }), let range = whole.span,
                windows.length >= search.least,
                search.effort(in: windows) >= search.least
            else { continue }
            search.claim(whole)
            found.append(
                Finding(
                    subject: .unusedLibrary(
                        library.path, isLinkedForNothing: library.isLinkedForNothing),
                    saving: windows.length,
                    thread: heaviest.thread, range: range, place: heaviest.frame,
                    stack: [heaviest.frame]))
        }
        return found
    }

    private static func initializers(
        of library: LibraryFigures, in search: FindingSearch
    ) -> [InitializerFigures] {
        search.profile.initializers.filter { run in
            let module = search.profile.frames.function(of: run.frame).moduleIndex
            return search.isMain(run.thread, at: run.start)
                && module.map { library.modules.contains($0.rawValue) } == true
        }
    }
}
