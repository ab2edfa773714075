package import ProfileModel

/// The particulars of an initialiser.
package struct InitializerEvidence: Hashable, Sendable {
    /// As its own thread measured them.
    package var wall: TimeSpan
    package var cpu: TimeSpan
    /// The name of the library, or of the program.
    package var module: String
    /// The initialiser's source file; nil: not known.
    package var file: String?
    package var line: Int32?
    /// Whether no later stack shows code of the library.
    package var isUnused: Bool
}

/// An initialiser takes long, before `main` or in a `dlopen`.
struct HeavyInitializers: FindingRule {
    func findings(in search: inout FindingSearch) -> [Finding] {
        // A run within another one is shorter, and tells more.
        let runs = search.profile.initializers.filter { search.isMain($0.thread, at: $0.start) }
            .sorted { ($0.wall, $0.start) < ($1.wall, $1.start) }
        var found: [Finding] = []
        for run in runs where run.cpu >= search.least {
            let whole = TimeWindows([search.window(from: run.start, to: run.end)])
            let windows = search.unclaimed(whole)
            guard windows.length >= search.least,
                search.effort(in: windows) >= search.least,
                let range = whole.span
            else { continue }
            let (stack, place) = Self.work(of: run, in: whole, search)
            search.claim(whole)
            found.append(
                Finding(
                    subject: .initializer(Self.evidence(of: run, search)),
                    saving: windows.length, thread: run.thread, range: range, place: place,
                    stack: stack))
        }
        return found
    }

    private static func evidence(
        of run: InitializerFigures, _ search: FindingSearch
    ) -> InitializerEvidence {
        let function = search.profile.frames.function(of: run.frame)
        let library = search.profile.libraries.first { library in
            function.moduleIndex.map { library.modules.contains($0.rawValue) } ?? false
        }
        return InitializerEvidence(
            wall: run.wall, cpu: run.cpu, module: function.module, file: run.file, line: run.line,
            isUnused: library?.used == false)
    }

    /// The heaviest stack from the initialiser on, and the function in it that does the work. That
    /// is not a compiler-generated function, nor one that only passes all of the time on.
    private static func work(
        of run: InitializerFigures, in windows: TimeWindows, _ search: FindingSearch
    ) -> (stack: [FrameID], place: FrameID) {
        let frames = search.profile.frames
        let heaviest = search.heaviestStack(of: run.thread, in: windows, by: .cpu).entries
        let function = frames[run.frame].function
        let start = heaviest.firstIndex { frames[$0.frame].function == function }
        guard let start else { return ([run.frame], run.frame) }
        let below = heaviest[start...]
        let isOwn = frames[function].isOwn
        // Its end lies between two samples.
        let tick = 1_000_000_000 / Int64(max(1, search.profile.header.frequency))
        let worker = search.worker(
            in: below, by: .cpu, unseen: TimeSpan(nanoseconds: tick)
        ) { candidate in
            candidate.isOwn == isOwn && !generated.contains(where: candidate.name.hasPrefix)
        }
        return (below.map(\.frame), worker ?? run.frame)
    }

    private static let generated = [
        "_GLOBAL__", "global constructors keyed", "__static_initialization_and_destruction",
        "__cxx_global_var_init", "__GLOBAL__",
    ]
}
