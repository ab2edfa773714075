import Agent
import Images
import ProcessIO
import ProfileModel

/// Reports what our code around the initialisers has noted.
struct HookReports: SessionPart {
    let context: SessionContext
    let gate: LaunchGate
    let signposts: SignpostReports
    let libraryReports: LibraryReports
    let launchReports: LaunchReports

    /// - Parameters:
    ///   - tick: when the report was decided; that may be a while ago. At the end, the recording's
    ///     end.
    ///   - isLast: calls that have not ended yet count as never ending.
    func reportHooks(at tick: MonotonicTime, isLast: Bool = false) {
        guard let image = stage.image, let code = image.instrumentation,
            let main = threads[pid]
        else { return }
        if !isLast {
            gate.serveGate()
        } else if code.area.lacksPatches {
            ledger.note(.unwritable, 1)
        }
        launchReports.reportBorders(at: isLast ? tick : process.now)
        let runs = code.hooks.newRuns(isLast: isLast)
        let now = isLast ? tick : process.now
        let bounds = min(image.start, now)...now
        // The code of the initialisers may have been mapped since the last look.
        if let latest = runs.last, latest.start > observer.mappings.lastRead {
            observer.rereadMappings(at: now)
        }
        let memory = process.memory
        let seen = code.hooks.see(memory)
        for run in runs where bounds.contains(run.start) {
            let thread = threads[run.tid] ?? main
            let event = SamplerEvent.initializer(Self.initializer(run, on: thread, upTo: now))
            let earlier = earlierCode(of: code.hooks.library(run.library), at: run.function)
            if let earlier { sink.receive(.mappings(earlier, now)) }
            sink.receive(event)
            if earlier != nil { sink.receive(.mappings(observer.mappings.code, now)) }
        }
        signposts.reportSignposts(at: now, isLast: isLast)
        signposts.switchOnSignposts(of: seen.compactMap { $0.image(memory) })
        marks?.pending += seen
        for call in code.hooks.newLibraries(isLast: isLast) {
            report(
                call.libraries, of: code.area.open(call.open), end: call.end, within: bounds,
                to: image)
        }
    }

    /// The code mappings as they were while a library was there that a call loaded. nil: the
    /// library is still there, or is not known.
    private func earlierCode(of library: Hooks.SeenLibrary?, at function: UInt64) -> [CodeMapping]?
    {
        guard var code = library?.code, code.contains(where: { $0.contains(function) }) else {
            return nil
        }
        let file = library.flatMap { process.file(at: libraryReports.absolutePath($0.path)) } ?? ""
        let present = observer.mappings.code.first { $0.contains(function) }
        if let present, [library?.path, file].contains(present.path) { return nil }
        for index in code.indices where !file.isEmpty { code[index].path = file }
        return observer.mappings.code(with: code)
    }

    private static func initializer(
        _ run: AgentMemory.Note, on thread: TracedThread, upTo now: MonotonicTime
    ) -> ObservedInitializer {
        let end = min(max(run.end ?? now, run.start), now)
        let cpuAtEnd = run.end == nil ? thread.clock.counters.run : run.cpuAtEnd
        let (used, isOver) = cpuAtEnd.subtractingReportingOverflow(run.cpuAtStart)
        let wall = (end - run.start).nanoseconds
        return ObservedInitializer(
            function: run.function, thread: thread.index, start: run.start, end: end,
            cpu: TimeSpan(nanoseconds: isOver ? wall : min(max(used, 0), wall)),
            isComplete: run.end != nil)
    }

    /// Reports the libraries that one call loaded. The first is the one that the call asked for.
    private func report(
        _ loaded: [Hooks.SeenLibrary], of open: AgentMemory.Moment, end: MonotonicTime?,
        within bounds: ClosedRange<MonotonicTime>, to image: RunningImage
    ) {
        guard bounds.contains(open.time) else { return }
        var requester: [String: String] = [:]
        for library in loaded {
            image.libraries?.markTold(library.bias)
            for name in library.needed where requester[name] == nil {
                requester[name] = library.path
            }
        }
        for (index, library) in loaded.enumerated() {
            let isAskedFor = index == 0
            sink.receive(
                .library(
                    ObservedLibrary(
                        load: LibraryLoad(
                            path: libraryReports.path(
                                of: library.path, at: library.bias, library.size),
                            start: open.time,
                            wall: isAskedFor ? end.map { max($0, open.time) - open.time } : nil,
                            size: library.size,
                            requestedBy: isAskedFor
                                ? nil : requester[library.name].map(libraryReports.absolutePath),
                            isInitial: false),
                        caller: isAskedFor ? open.stack : nil)))
        }
    }
}
