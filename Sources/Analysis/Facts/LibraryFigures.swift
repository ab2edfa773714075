package import ProfileModel

/// A loaded library, its cost, and whether its code was needed.
package struct LibraryFigures: Hashable, Sendable {
    /// As the dynamic linker names it.
    package var path: String
    /// Since the launch's start.
    package var start: TimeSpan
    /// The time of its `dlopen`, with its initialisers; nil where that is unknown: at start-up.
    package var wall: TimeSpan?
    /// Wall time of its own initialisers, those within them included; nil: none was seen.
    package var initializers: TimeSpan?
    /// The size of its mapping in the address space, in bytes.
    package var size: Int64
    /// The path of the file that names it as needed; nil: a call asked for it, or not known.
    package var requestedBy: String?
    /// The stack of the `dlopen` that asked for it, outermost first; empty: none, or not known.
    package var caller: [FrameID]
    /// Whether it was loaded before `main`.
    package var isInitial: Bool
    /// Whether any stack shows its code after its initialisers had run; nil: no sample was taken
    /// after that, too many samples are missing, or its code was never seen mapped.
    package var used: Bool?
    /// Whether another loaded file names a symbol of it; nil: not known.
    package var isReferenced: Bool?
    /// Whether it is the developer's rather than the system's.
    package var isOwn: Bool
    /// The modules of the recording that are its file; empty: its code was never seen mapped.
    package var modules: Set<Int> = []

    /// Whether a file names it as needed, although no loaded file uses its symbols. Then it was
    /// linked for nothing, unless its initialisers are its purpose.
    package var isLinkedForNothing: Bool { isReferenced == false && requestedBy != nil }
}

/// Finds out about libraries from the rest of the recording.
struct LibraryExaminer {
    private let recording: Recording
    private let plan: PhasePlan
    private let initializers: [InitializerFigures]
    private let lastSeen: ModuleSightings
    private let relocated: MonotonicTime?
    private let main: MonotonicTime?

    init(
        _ recording: Recording, _ plan: PhasePlan, _ initializers: [InitializerFigures],
        _ lastSeen: ModuleSightings
    ) {
        self.recording = recording
        self.plan = plan
        self.initializers = initializers
        self.lastSeen = lastSeen
        relocated = recording.borders.last { $0.kind == .relocated }?.time.clamped
        main = recording.borders.last { $0.kind == .main }?.time.clamped
    }

    /// In the order of their loading.
    func figures(_ expander: inout StackExpander) -> [LibraryFigures] {
        recording.libraries.map { library in
            let modules = modules(of: library)
            let program = program(at: library.start.clamped)
            let runs = initializers.filter { run in
                let function = expander.frames.function(of: run.frame)
                return function.moduleIndex.map { modules.contains($0.rawValue) } ?? false
                    && self.program(at: plan.start + run.start) == program
            }
            return LibraryFigures(
                path: library.path, start: library.start.clamped - plan.start,
                wall: library.wall, initializers: Self.wall(of: runs), size: library.size,
                requestedBy: library.requestedBy,
                caller: library.caller.map { expander.frames(of: $0) } ?? [],
                isInitial: library.isInitial, used: used(library, modules, runs),
                isReferenced: library.isReferenced,
                isOwn: Module(path: library.file ?? library.path).isOwn, modules: modules)
        }
    }

    private static func wall(of runs: [InitializerFigures]) -> TimeSpan? {
        guard !runs.isEmpty else { return nil }
        return TimeWindows(runs.map { $0.start..<$0.end }).length
    }

    /// The program image that the process ran at that time: each image loads its libraries anew.
    private func program(at time: MonotonicTime) -> Int? {
        recording.images.lastIndex { $0.time.clamped <= time }
    }

    /// The modules that are its file. They are found by the file, by its own path or, if neither is
    /// among them, by a name that only one module has.
    private func modules(of library: LibraryLoad) -> Set<Int> {
        for path in [library.file, library.path] {
            let found = recording.modules.indices.filter { recording.modules[$0].path == path }
            if !found.isEmpty { return Set(found) }
        }
        let name = Module(path: library.path).name
        let found = recording.modules.indices.filter { recording.modules[$0].name == name }
        return found.count == 1 ? Set(found) : []
    }

    private func used(
        _ library: LibraryLoad, _ modules: Set<Int>, _ runs: [InitializerFigures]
    ) -> Bool? {
        guard !modules.isEmpty else { return nil }
        let seen = modules.compactMap { lastSeen.byModule[$0] }.max()
        let loaded = library.start.clamped + (library.wall ?? .zero)
        let initialised = runs.map { plan.start + $0.end }.max()
        // The dynamic linker itself runs code of libraries (IFUNC resolvers) to relocate them.
        let relocated = library.isInitial ? self.relocated : nil
        let since = [loaded, initialised, relocated].compactMap { $0 }.max() ?? loaded
        guard let last = lastSeen.last, last >= since else { return nil }
        guard let seen, seen >= since else {
            // Without their times, initialisers cannot be told from later code.
            return recording.header.isMuchMissed || (isUnwatched(library) && seen != nil)
                ? nil : false
        }
        // Before `main` it may have been an initialiser.
        return isUnwatched(library) && main.map { seen < $0 } ?? true ? nil : true
    }

    /// True if it is unknown whether it had no initialisers or none of them was watched.
    private func isUnwatched(_ library: LibraryLoad) -> Bool {
        library.isInitial && recording.initializers.isEmpty
    }
}

/// When each module was last certainly on a stack.
struct ModuleSightings {
    /// By the module's index; modules that no stack shows are missing.
    var byModule: [Int: MonotonicTime] = [:]
    /// Of any stack.
    var last: MonotonicTime?
}

extension Recording.Header {
    /// Whether so many samples, or looks at waits, are missing that the absence of code from stacks
    /// proves nothing.
    var isMuchMissed: Bool {
        [(missedSamples, samples), (missedTicks, ticks)].contains { missed, taken in
            Double(missed) > 0.2 * (Double(missed) + Double(taken))
        }
    }
}
