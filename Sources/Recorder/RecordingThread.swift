import Glibc
import ProfileModel
import Recording
import Sampler
import Synchronization
import Unwind

/// The recorder's other thread: takes what the sampler observed, unwinds it and writes it down.
final class RecordingThread: @unchecked Sendable {
    let path: String
    private let header: Recording.Header
    private let queue: EventQueue
    private let tell: (@Sendable (RecordingProgress) -> Void)?
    private var thread = pthread_t()
    private var isStarted = false

    // Only touched by the thread itself, until it was joined.
    private var file: RecordingWriter?
    private var slices = SliceBuilder(unwinder: Unwinder())
    /// To be written behind the events at hand: all of them together, so that unwinding and SQLite do
    /// not throw each other out of the processor's caches at each sample.
    private var finished: [Slice] = []
    private var waits: [Wait] = []
    private var facts = FactBuilder()
    private var schedule = ScheduleBuilder()
    private var isReady = false
    private var threads: [RecordedThread] = []
    private var moduleCount = 0
    private(set) var pid: Int32 = 0
    /// Of the program that runs, as ``Image/name``.
    private(set) var name = ""
    private var lastCommit = MonotonicTime.now
    private var progress = RecordingProgress()
    private var lastTold = MonotonicTime.now
    private(set) var failure: RecordingError?
    private(set) var hasFile = false
    private(set) var identity: RecordingFile.Identity?
    let held = HeldFiles()
    /// What the thread does last, where nobody waits for it.
    private let ending = Mutex<(@Sendable (RecordingThread) -> Void)?>(nil)
    private let over = Atomic(false)

    /// - Parameter tell: told of the progress, as ``Recorder/tellProgress``.
    init(
        path: String, header: Recording.Header, queue: EventQueue,
        tell: (@Sendable (RecordingProgress) -> Void)? = nil
    ) {
        self.path = path
        self.header = header
        self.queue = queue
        self.tell = tell
    }

    func start() -> Bool {
        let code = pthread_create(
            &thread, nil,
            { argument in
                // Balanced by the retain below.
                if let argument {
                    Unmanaged<RecordingThread>.fromOpaque(argument).takeRetainedValue().run()
                }
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        isStarted = code == 0
        if !isStarted { Unmanaged.passUnretained(self).release() }
        return isStarted
    }

    /// Waits until all events are written; then completes the file.
    ///
    /// - Parameter children: those that have a recording of their own.
    func finish(
        _ notes: [RecorderNote], _ children: [ChildProcess],
        _ complete: (inout Recording.Header) -> Void
    ) {
        close()
        join()
        self.complete(notes, children, complete)
    }

    /// The same, but nobody waits: the thread itself completes the file.
    func finishAlone(
        _ notes: [RecorderNote], _ complete: @escaping @Sendable (inout Recording.Header) -> Void
    ) {
        ending.withLock { $0 = { $0.complete(notes, [], complete) } }
        close()
    }

    /// Whether a thread that finishes alone has done so.
    var isOver: Bool { over.load(ordering: .acquiring) }

    /// Waits for the thread's end.
    func join() {
        if isStarted { pthread_join(thread, nil) }
        isStarted = false
    }

    private func complete(
        _ notes: [RecorderNote], _ children: [ChildProcess],
        _ complete: (inout Recording.Header) -> Void
    ) {
        guard let file else { return }
        var header = header
        header.pid = pid
        header.lostSamples = queue.lostSamples
        complete(&header)
        attempt { () throws(RecordingError) in
            for note in withLosses(notes) { try file.append(note) }
            for child in children { try file.append(child) }
            try file.finish(header)
        }
    }

    /// The notes with what was lost on the way here, too.
    private func withLosses(_ notes: [RecorderNote]) -> [RecorderNote] {
        let losses = [
            RecorderNote(.lostSignposts, queue.lostSignposts),
            RecorderNote(.lostSwitches, schedule.losses),
            RecorderNote(.unkeptRuns, schedule.unkept),
        ]
        var result = notes
        for loss in losses where loss.value > 0 {
            if let known = result.firstIndex(where: { $0.kind == loss.kind }) {
                result[known].value += loss.value
            } else {
                result.append(loss)
            }
        }
        return result
    }

    /// No more events come; those that wait are still written.
    func close() { queue.finish() }

    private func run() {
        var events: [SamplerEvent] = []
        while queue.next(into: &events) {
            attempt { () throws(RecordingError) in
                for event in events { try take(event) }
                try writeFinished()
                try commitIfDue()
            }
            if let tell { tellIfDue(tell, events) }
        }
        attempt { () throws(RecordingError) in
            finished += slices.flush()
            try writeFinished()
            try write(facts.placed(slices: &slices, evenUnknown: true))
        }
        if let ending = ending.withLock({ $0 }) {
            ending(self)
            file = nil
        }
        over.store(true, ordering: .releasing)
    }

    /// After the first failure nothing more is written, and the sampler is told.
    private func attempt(_ body: () throws(RecordingError) -> Void) {
        guard failure == nil else { return }
        do throws(RecordingError) {
            try body()
        } catch {
            failure = error
            queue.fail()
        }
    }

    /// A recorder that is killed loses at most this much.
    private static let commitInterval = TimeSpan.milliseconds(500)

    private func commitIfDue() throws(RecordingError) {
        guard let file, MonotonicTime.now - lastCommit >= Self.commitInterval else { return }
        lastCommit = .now
        try file.commit()
    }

    private static let tellInterval = TimeSpan.milliseconds(200)

    private func tellIfDue(
        _ tell: @Sendable (RecordingProgress) -> Void, _ events: [SamplerEvent]
    ) {
        for event in events { progress.note(event) }
        guard MonotonicTime.now - lastTold >= Self.tellInterval else { return }
        lastTold = .now
        tell(progress)
    }

    private func take(_ event: SamplerEvent) throws(RecordingError) {
        if case .began(let pid) = event { return try begin(pid) }
        guard let file else { return }
        switch event {
        case .began: break
        case .image(let image):
            slices.leaveImage(into: &finished)
            name = String(image.name)
            try file.append(image)
        case .mark(let mark):
            try file.append(mark)
            if mark.kind == .ended { schedule.finish(at: mark.time) }
        case .threadStarted(let thread):
            schedule.list(ThreadIndex(threads.count), tid: thread.tid)
            threads.append(thread)
            facts.threads = threads.count
            try file.append(thread)
        case .threadNamed(let index, let name):
            try update(index) { $0.name = name }
        case .threadEnded(let index, let time):
            try update(index) { $0.end = time }
        case .mappings(let code, let time):
            try take(code, at: time)
        case .sample(let sample):
            if let request = slices.add(sample, into: &finished) { queue.request(request) }
        case .wait(let wait):
            let stack = slices.stack(of: wait.thread)
            if let wait = facts.wait(wait, stack: stack) { waits.append(wait) }
        case .priority(let priority):
            if let priority = facts.priority(priority) { try file.append(priority) }
        case .library(let library):
            let load = facts.library(library, pid: pid, slices: &slices)
            try file.append(newNodesOf: slices.stacks)
            if let load { try file.append(load) }
        case .initializer(let initializer):
            try write(facts.initializer(initializer, slices: &slices).map { [$0] } ?? [])
        case .interval(let interval):
            if let interval = facts.interval(interval) { try file.append(interval) }
        case .signpost(let signpost):
            if let signpost = facts.signpost(signpost) { try file.append(signpost) }
        case .ready(let ready):
            guard let ready = facts.readiness(ready, isFirst: !isReady) else { break }
            isReady = true
            try file.append(ready)
        case .scheduled(let records): schedule.add(records)
        }
    }

    /// The program runs: only now does a new recording take the place of an older one.
    private func begin(_ pid: Int32) throws(RecordingError) {
        self.pid = pid
        try RecordingFile.keepOlder(at: path)
        var header = header
        header.pid = pid
        file = try RecordingWriter(creating: path, header: header)
        identity = RecordingFile.Identity(of: path)
        hasFile = true
        held.begin(pid)
    }

    private func update(
        _ index: ThreadIndex, _ change: (inout RecordedThread) -> Void
    ) throws(RecordingError) {
        guard threads.indices.contains(index.rawValue) else { return }
        change(&threads[index.rawValue])
        try file?.update(threads[index.rawValue], at: index)
    }

    private func take(_ code: [CodeMapping], at time: MonotonicTime) throws(RecordingError) {
        let added = slices.unwinder.update(code, at: time, openAlternative: otherPaths)
        let modules = slices.unwinder.modules
        for module in modules[moduleCount...] { try file?.append(module) }
        for mapping in added where mapping.module.rawValue >= moduleCount {
            guard let source = code.first(where: { $0.start == mapping.start }) else { continue }
            held.keep(modules[mapping.module.rawValue], source, paths: otherPaths(source))
        }
        moduleCount = modules.count
        for mapping in added { try file?.append(mapping) }
        try write(facts.placed(slices: &slices))
    }

    /// The mapped file itself, also when its path names another one by now.
    private func otherPaths(_ mapping: CodeMapping) -> [String] {
        let (start, end) = (String(mapping.start, radix: 16), String(mapping.end, radix: 16))
        return [
            "/proc/\(pid)/map_files/\(start)-\(end)", "/proc/\(pid)/root\(mapping.path)",
        ]
    }

    private func writeFinished() throws(RecordingError) {
        guard let file else { return }
        try file.append(newNodesOf: slices.stacks)
        // A slice without time carries nothing.
        for slice in finished where slice.times.wall > .zero { try file.append(slice) }
        finished.removeAll(keepingCapacity: true)
        for wait in waits { try file.append(wait) }
        waits.removeAll(keepingCapacity: true)
        for run in schedule.result.runs { try file.append(run) }
        for wakeup in schedule.result.wakeups { try file.append(wakeup) }
        schedule.removeResult()
    }

    private func write(_ runs: [InitializerRun]) throws(RecordingError) {
        guard let file, !runs.isEmpty else { return }
        try file.append(newNodesOf: slices.stacks)
        for run in runs { try file.append(run) }
    }
}
