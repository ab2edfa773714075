import ProfileModel
import Recording
import System
import Unwind

/// Unwinds the stacks of slices in batches, and writes both. The file is created with the first
/// content.
final class ImportWriter {
    private let path: String
    private let header: Recording.Header
    private let engine: UnwindEngine
    private let pool: UnwindPool
    private var stacks = StackTable()
    private var file: RecordingWriter?
    private var jobs: [StackJob] = []
    private var jobSize = 0
    private var slices: [(slice: Slice, job: StackJob?)] = []
    private var threads: [RecordedThread] = []
    private var writtenThreads = 0
    private var moduleCount = 0
    /// The mappings that are not written yet.
    private var mappings: [Mapping] = []
    /// When the earliest slice begins.
    private(set) var start: MonotonicTime?
    private(set) var sliceCount: Int64 = 0
    private(set) var unverifiedStacks: Int64 = 0
    var timings = ImportTimings()

    /// How many bytes of stacks are unwound together: some 4,000 stacks of perf's usual size.
    private static let batchSize = 32 << 20
    private static let batchSlices = 16_384

    init(path: String, header: Recording.Header, engine: UnwindEngine = .quick) {
        self.engine = engine
        pool = UnwindPool(engine)
        self.path = path
        self.header = header
    }

    // MARK: Taking

    func add(_ thread: RecordedThread) -> ThreadIndex {
        threads.append(thread)
        return ThreadIndex(threads.count - 1)
    }

    func update(_ index: ThreadIndex, _ change: (inout RecordedThread) -> Void) {
        guard threads.indices.contains(index.rawValue) else { return }
        change(&threads[index.rawValue])
    }

    /// - Parameters:
    ///   - source: a stack, valid for the mappings of the last ``update(_:at:)``.
    ///   - kernelChain: its part in the kernel; see ``Snapshot/kernelChain``.
    func job(
        _ source: StackJob.Source, kernelChain: [UInt64]
    ) throws(RecordingError) -> StackJob {
        if jobSize >= Self.batchSize { try flush() }
        if case .chain = source { unverifiedStacks += 1 }
        let job = StackJob(source, kernelChain: kernelChain)
        jobs.append(job)
        jobSize += job.size
        return job
    }

    /// Adds a thread's pieces, which must come in order.
    func add(
        _ pieces: [ThreadTimes<StackJob>.Piece], of thread: ThreadIndex
    ) throws(RecordingError) {
        for piece in pieces {
            let slice = Slice(
                thread: thread, start: piece.start, times: piece.times, stack: nil)
            slices.append((slice, piece.stack))
            start = min(start ?? piece.start, piece.start)
        }
        if slices.count >= Self.batchSlices { try flush() }
    }

    /// Takes the process's new list of mappings.
    func update(_ code: [CodeMapping], at time: MonotonicTime) throws(RecordingError) {
        try flush()
        mappings += timings.measure(\.unwinding) { pool.update(code, at: time) }
    }

    // MARK: Writing

    /// Only now does a new recording replace an older one.
    private func openFile() throws(RecordingError) -> RecordingWriter {
        if let file { return file }
        try RecordingFile.keepOlder(at: path)
        let file = try RecordingWriter(creating: path, header: header)
        self.file = file
        return file
    }

    private func flush() throws(RecordingError) {
        guard !jobs.isEmpty || !slices.isEmpty else { return }
        timings.measure(\.unwinding) { pool.unwind(jobs) }
        let start = MonotonicTime.now
        defer { timings.writing = timings.writing + (.now - start) }
        pool.merge(into: &stacks)
        timings.stacks += jobs.count
        timings.frames = pool.frames
        jobs = []
        jobSize = 0
        guard !slices.isEmpty else { return }
        let file = try openFile()
        let modules = pool.modules
        for module in modules[moduleCount...] { try file.append(module) }
        moduleCount = modules.count
        for mapping in mappings { try file.append(mapping) }
        mappings = []
        for thread in threads[writtenThreads...] { try file.append(thread) }
        writtenThreads = threads.count
        try file.append(newNodesOf: stacks)
        for (slice, job) in slices {
            var slice = slice
            slice.stack = job?.id
            slice.truncation = job?.truncation
            try file.append(slice)
        }
        sliceCount += Int64(slices.count)
        slices = []
        try file.commit()
    }

    /// Modules with files that could not be used for unwinding.
    private var changedModules: Int64 {
        let modules = pool.modules
        return Int64(
            modules.indices.filter {
                modules[$0].path.hasPrefix("/") && !pool.isReadable(ModuleIndex($0))
            }.count)
    }

    /// Writes the facts that are known only at the end. Without any slice there is no file.
    func finish(
        _ facts: ImportFacts, _ complete: (inout Recording.Header) -> Void
    ) throws(RecordingError) {
        try flush()
        guard sliceCount > 0, let file else { return }
        let start = MonotonicTime.now
        for (index, thread) in threads.enumerated() {
            try file.update(thread, at: ThreadIndex(index))
        }
        for image in facts.images { try file.append(image) }
        for border in facts.borders { try file.append(border) }
        for run in facts.runs { try file.append(run) }
        let own = [
            RecorderNote(.unverifiedStacks, unverifiedStacks),
            RecorderNote(.secondOpinions, pool.savedStacks),
            RecorderNote(.libraryUnwinder, engine == .libunwind ? 1 : 0),
            RecorderNote(.changedModules, changedModules),
        ]
        for note in facts.notes + own where note.value > 0 { try file.append(note) }
        var header = header
        complete(&header)
        try file.finish(header)
        timings.writing = timings.writing + (.now - start)
        timings.unwindingCPU = pool.cpu
    }
}

/// The facts about an import that are known only at its end.
struct ImportFacts {
    var images: [Image] = []
    var borders: [LaunchBorder] = []
    var runs: [ScheduledRun] = []
    var notes: [RecorderNote] = []
}
