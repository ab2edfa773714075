import KernelTables
import ProfileModel
import Recording
import Unwind

/// The file of a recording, and the state that all its processes share. Threads, modules and stacks
/// have one numbering, so a thread's effect on another is known across processes.
///
/// For the recording thread only.
final class RecordingOutput {
    let file: RecordingWriter
    let modules: MappedFiles
    let functions: RuntimeFunctions
    let stacks = SharedStacks()
    let held: HeldFiles
    let engine: UnwindEngine
    /// When Node processes were asked to write maps of their functions, in seconds since 1970; nil:
    /// they were not asked.
    var nodeStart: Int?
    let opinion: SecondOpinion
    /// The kernel's code; empty: it is hidden. It is read at the first stack that reaches into it.
    var kernelCode: [CodeMapping] { kernel.code }
    private let kernel: SharedKernel
    var schedule: ScheduleBuilder
    /// Slices that are written together after the current events. Otherwise unwinding and SQLite
    /// would evict each other from the processor's caches at each sample.
    private var slices: [Slice] = []
    private var joiner = SliceJoiner()
    private var waits: [Wait] = []
    private var threadCount = 0
    private var writtenModules = 0

    /// - Parameter runs: how many of the scheduler's rows are kept.
    init(
        _ file: RecordingWriter, held: HeldFiles, engine: UnwindEngine = .quick,
        runs: Int = ScheduleBuilder.usualLimit
    ) {
        self.file = file
        kernel = SharedKernel()
        schedule = ScheduleBuilder(limit: runs)
        self.engine = engine
        self.held = held
        modules = MappedFiles()
        functions = RuntimeFunctions(modules)
        opinion = SecondOpinion()
    }

    /// The next part of the recording: modules keep their numbers, threads and stacks start from 0.
    init(_ file: RecordingWriter, after former: RecordingOutput) throws(RecordingError) {
        self.file = file
        engine = former.engine
        nodeStart = former.nodeStart
        held = former.held
        modules = former.modules
        functions = former.functions
        functions.startAnew()
        opinion = former.opinion
        schedule = former.schedule
        kernel = former.kernel
        _ = try writeNewModules()
    }

    /// - Parameter child: the sampler's number for the process; nil: the recorded one.
    func unwinder(of child: ChildIndex?) -> Unwinder {
        Unwinder(files: modules, process: child?.rawValue, engine: engine, opinion: opinion)
    }

    // MARK: Threads

    /// The thread's number among the threads of all processes.
    func add(_ thread: RecordedThread) throws(RecordingError) -> ThreadIndex {
        let index = ThreadIndex(threadCount)
        threadCount += 1
        schedule.list(index, tid: thread.tid)
        try file.append(thread)
        return index
    }

    // MARK: Written at once

    /// Writes modules that were mapped for the first time.
    /// - Returns: the number of the first.
    func writeNewModules() throws(RecordingError) -> Int {
        let first = writtenModules
        let all = modules.modules
        for module in all[first...] { try file.append(module) }
        writtenModules = all.count
        return first
    }

    func writeNewStacks() throws(RecordingError) {
        let functions = functions.takeNew()
        if !functions.isEmpty { _ = try writeNewModules() }
        for (frame, function) in functions { try file.append(function, at: frame) }
        try file.append(newNodesOf: stacks.table)
    }

    func write(_ runs: [InitializerRun]) throws(RecordingError) {
        guard !runs.isEmpty else { return }
        try writeNewStacks()
        for run in runs { try file.append(run) }
    }

    // MARK: Written after the current events

    func add(_ finished: [Slice]) {
        for slice in finished { joiner.add(slice, into: &slices) }
    }

    func add(_ wait: Wait) { waits.append(wait) }

    func writeFinished() throws(RecordingError) {
        try writeNewStacks()
        for slice in slices { try file.append(slice) }
        slices.removeAll(keepingCapacity: true)
        for wait in waits { try file.append(wait) }
        waits.removeAll(keepingCapacity: true)
        for run in schedule.result.runs { try file.append(run) }
        for wakeup in schedule.result.wakeups { try file.append(wakeup) }
        schedule.removeResult()
    }
    /// Makes everything so far safe.
    func commit() throws(RecordingError) {
        try writeAll()
        try file.commit()
    }

    /// Writes also the slices that later ones might still have extended.
    func writeAll() throws(RecordingError) {
        joiner.flush(into: &slices)
        try writeFinished()
    }
}

/// The kernel's code, shared by one part of a recording and the next.
private final class SharedKernel {
    private(set) lazy var code = RunningKernel()?.code ?? []
}
