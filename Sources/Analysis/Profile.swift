package import ProfileModel

/// A recording made readable: its time divided by phase, thread and symbolic stack. Reports take
/// all their content from it.
///
/// Phases, libraries, initialisers, intervals and signposts are the recorded process's. Threads,
/// stacks, waits and times include its children's.
///
/// Pure and deterministic: the same recording gives the same answers, in the same order.
///
/// Its queries besides its properties, and the file of `Analysis` of each:
///
/// A part of the launch
/// - ``selection(phase:thread:interval:)``, ``selection(of:)``, ``windows(ofIntervalsNamed:)``: the
///   meaning of a user's words, or an initialiser (`Selection.swift`)
/// - ``times(in:)``, ``timesByThread(in:)``, ``phase(_:in:)``, ``includes(_:from:to:thread:)``: the
///   content of a selection (`Selection.swift`)
/// - ``forEachPart(in:_:)``, ``forEachPiece(in:_:)``: each slice's shares (`Pieces.swift`)
///
/// Stacks
/// - ``topDown(_:weight:)``: callers above callees (`Trees/CallTree.swift`)
/// - ``bottomUp(_:weight:depth:minPercent:)``: callers below callees (`Trees/BottomUp.swift`)
/// - ``functions(_:orderedBy:)``: each function's own and total time (`Trees/FunctionFigures.swift`)
/// - ``heaviestStack(_:weight:)``, ``heaviestProcess(in:weight:)`` (`Trees/HeaviestStack.swift`)
/// - ``weighedStacks(_:weight:byPhase:byThread:)``: all stacks, merged (`Trees/WeighedStack.swift`)
/// - ``place(in:)``: the frame of a stack to show first (`Stacks/TellingFrame.swift`)
/// - ``frames``: the list of frames. A file and a line are a frame's, not its function's
///   (`Stacks/Frame.swift`): sums by them need ``forEachPart(in:_:)``
///
/// Time, from left to right
/// - ``stretches(in:)``, ``stackNodes``, ``stackNode(of:)``, ``frames(ofStack:)``: the stretches of
///   threads, with their stacks (`Stacks/Stretches.swift`)
/// - ``timelines()``: the states of threads (`Waits/Timeline.swift`)
/// - ``stretchPicture(most:)``, ``tiledTimelines(most:)``: the same two, small enough to be drawn
///   (`Stacks/Tiles.swift`)
/// - ``criticalPath(minDuration:leastShare:)``: the chain of work and waits that the launch
///   depended on (`Schedule/CriticalPath.swift`), by ``wakeup(of:at:)``
///   (`Schedule/BackwardWalk.swift`)
///
/// Waits and threads
/// - ``waits(in:shortest:)``, ``stack(of:)``: waits, and where each was (`Waits/WaitFigures.swift`)
/// - ``priorities``, ``hasPriorities`` (`Waits/PriorityFigures.swift`)
/// - ``rootFunctions(of:)``: where a thread's stacks begin (`Findings/MainThreadLoading.swift`)
/// - ``process(ofThread:)``, ``leader(of:)`` (this file)
///
/// Modules and imports
/// - ``moduleTimes(_:)``: the cost of each module (`Facts/ModuleFigures.swift`)
/// - ``importRuns()``, ``importSearches(_:)``: a Python program's imports (`Facts/ImportSearch.swift`)
/// - ``imports(_:weight:)``: the same as a tree (`Trees/ImportTree.swift`)
///
/// Conclusions
/// - ``findings()``, ``phase(of:)``: the reasons for a long launch (`Findings/Finding.swift`)
/// - ``measurementNotes()``: how far the measurement can be trusted
///   (`Findings/MeasurementNotes.swift`)
///
/// Comparison with other launches
/// - ``programModule`` (`Comparison/FunctionMatching.swift`)
/// - ``programBuildID``, ``captureName``, ``isFailed`` (`Top/ProgramSums.swift`)
///
/// All other extensions serve one file: ``phases(_:held:since:)`` makes the phases here
/// (`Launch/HeldPhases.swift`), and `Report` has its words for threads and selections
/// (`Text/TextReport.swift`, `Text/HeaderSection.swift`).
package struct Profile: Sendable {
    package let header: Recording.Header
    package let notes: [RecorderNote]
    /// The recorded process first, then its children in the order of their starts.
    package let processes: [ProcessFigures]
    /// When the launch began; all other times are relative to it.
    package let start: MonotonicTime
    /// The program that the process ended up running, after any wrappers.
    package let program: Program
    package let launch: Launch
    package let mainThread: MainThread
    package private(set) var phases: [Phase]
    /// The phases with parts joined according to ``Phase/whole``, as in a measurement without
    /// stacks.
    package let wholePhases: [Phase]
    /// In the recording's order, that of their discovery.
    package let threads: [ThreadFigures]
    /// In the recording's order.
    package let modules: [ModuleFigures]
    package let frames: FrameTable
    /// In the order of their loading.
    package let libraries: [LibraryFigures]
    /// In the order of their starts.
    package let initializers: [InitializerFigures]
    /// In the order of their starts.
    package let intervals: [IntervalFigures]
    /// In the order of their times.
    package let signposts: [SignpostFigures]
    /// nil: no readiness was awaited, or it was not reached.
    package let ready: ReadyFigures?
    /// In the order of their starts.
    package let waits: [WaitFigures]

    let schedule: RecordedSchedule
    let paths: PathTable
    let parts: PartList
    let partIndex: PartIndex
    let cutter: PartCutter
    let timelineSource: TimelineSource

    package struct Program: Hashable, Sendable {
        package var path: String
        package var arguments: [String]
        /// The file that ran; empty: not known.
        package var name: String
        /// The program's name in titles: for a script that was started by its name, the script's.
        /// If it replaced itself with another program, both ("report.sh → date"). Empty: not known.
        package var title: String = ""
        /// The command that was started: the first image's arguments, if wrappers became the
        /// program. Empty: not known.
        package var startedAs: [String] = []
    }

    /// The figures of the launch as a whole.
    package struct Launch: Hashable, Sendable {
        package var wall: TimeSpan
        /// The time for which the profiler stopped every thread: all figures leave it out.
        package var held: TimeSpan = .zero
        /// Of all threads of all processes; the sum of the phases'.
        package var cpu: TimeSpan
        /// The number of slices that have a stack or should have had one: not those from before
        /// `exec`.
        package var slices: Int
        /// The number of slices that do not reach their thread's entry function, by reason. Reasons
        /// that did not occur are left out.
        package var truncations: [Truncation: Int]
        /// The modules in which stacks end for want of unwind information, most first.
        package var unruledModules: [ModuleIndex] = []

        package var truncatedStacks: Int { truncations.values.reduce(0, +) }
    }

    /// A slice's share of one phase.
    struct Part: Sendable {
        var phase: Int32
        var thread: Int32
        /// The line of ``PathTable`` of its stack.
        var line: Int32
        /// That line with the wait called from it; ``PathTable/none`` when it never blocked.
        var waitLine: Int32
        /// Since the launch's start.
        var start: TimeSpan
        var times: StateTimes
    }

    /// The position in ``processes`` of a thread's process.
    package func process(ofThread index: Int) -> Int {
        threads[index].child.map { $0.rawValue + 1 } ?? 0
    }

    /// A process's first thread; nil: not known.
    package func leader(of process: ProcessFigures) -> Int? {
        process.threads.first {
            process.child == nil ? threads[$0].isMain : threads[$0].tid == process.pid
        }
    }

    /// - Parameter recorded: if the caller holds no other copy, it is changed in place, without a
    ///   copy.
    package init(_ recorded: consuming Recording) {
        let held = HeldTime(recorded.borders)
        var recording = recorded.without(held).withOwnFacts()
        let plan = PhasePlan(recording)
        var builder = PartBuilder(recording, plan: plan)
        schedule = RecordedSchedule(recording)
        // Large lists that were converted are released, to save memory.
        recording.runs = ScheduledRuns()
        var states = ExactStates(schedule, account: recording.header.account)
        for slice in recording.slices { builder.add(states.refined(slice.clamped)) }
        timelineSource = TimelineSource(recording, schedule, plan)
        recording.slices = []
        initializers = builder.initializers(recording)
        libraries = builder.libraries(recording, initializers)
        waits = builder.waits(recording, schedule)
        builder.finish()

        header = recording.header
        notes = recording.notes
        start = plan.start
        let image = recording.images.last
        program = Program(
            path: image?.path ?? "", arguments: image?.arguments ?? [],
            name: image.map { String($0.name) } ?? "",
            title: recording.title, startedAs: recording.images.first?.arguments ?? [])
        ready = recording.ready.map {
            ReadyFigures(time: max(.zero, $0.time.clamped - plan.start), by: $0.by)
        }
        mainThread = MainThread(
            recording, threads: builder.threads, waits: waits, parts: builder.parts,
            phases: builder.phases, ready: ready?.time, wall: plan.end - plan.start)
        phases = Self.phases(builder.phases(mainThread), held: held, since: plan.start)
        wholePhases = plan.wholes(phases)
        launch = Launch(
            wall: plan.end - plan.start, held: held.total,
            cpu: builder.phases.reduce(.zero) { $0 + $1.cpu }, slices: builder.slices,
            truncations: builder.truncations,
            unruledModules: builder.unruledModules
                .filter { recording.modules.indices.contains($0.key.rawValue) }
                .sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key))
        threads = builder.threads
        processes = ProcessFigures.all(
            of: recording, plan, phases: phases, threads: builder.threads, parts: builder.parts,
            waits: waits)
        modules = ModuleFigures.all(
            of: recording, since: plan.start, slices: builder.slicesByModule(recording),
            addresses: builder.expander.addressCounts(modules: recording.modules.count))
        frames = builder.expander.frames
        paths = builder.expander.paths
        parts = builder.parts
        partIndex = PartIndex(builder.parts, threads: builder.threads.count)
        cutter = plan.cutter(for: recording)
        intervals = IntervalFigures.all(
            of: recording, plan, parts: builder.parts, cutter: cutter)
        signposts = SignpostFigures.all(of: recording, since: plan.start)
    }
}

extension Profile {
    /// The same, but the parts of some phases have the names of their wholes.
    fileprivate func callingParts(ofWholes names: Set<String>) -> Profile {
        guard phases.contains(where: { $0.whole.map(names.contains) ?? false }) else { return self }
        var result = self
        for index in phases.indices where names.contains(phases[index].wholeName) {
            result.phases[index].name = phases[index].wholeName
            result.phases[index].whole = nil
        }
        return result
    }
}

extension Compared<[Profile]> {
    /// The launches with phases that can be compared. If the parts of a phase could not be
    /// distinguished in one launch, they do not count as missing there.
    var withAlikePhases: Self {
        let undivided = Set(
            (before + after).flatMap(\.phases).filter { $0.whole == nil }.map(\.name))
        return map { launches in launches.map { $0.callingParts(ofWholes: undivided) } }
    }
}
