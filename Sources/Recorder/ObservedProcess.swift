import ProcessIO
import ProfileModel
import Recording
import Sampler
import Unwind

/// Prepares one process's events for the recording: stacks are unwound and completed, and threads
/// get their numbers in the recording.
final class ObservedProcess {
    let pid: Int32
    /// Its number in the recording; nil: the recorded process itself.
    private(set) var child: ChildIndex?
    private var output: RecordingOutput
    /// The code that the process itself has mapped.
    private var code: [CodeMapping] = []
    /// Whether the unwinder knows the kernel's code, too.
    private var knowsKernel = false
    private var slices: SliceBuilder
    private var finished: [Slice] = []
    private var facts = FactBuilder()
    private var isReady = false
    private var threads = ObservedThreads()
    /// The program that runs.
    private var image: Image?
    /// The name of the running program, as ``Image/name``.
    var name: String { image.map { String($0.name) } ?? "" }

    /// - Parameters:
    ///   - sampled: the sampler's number for it; nil: the recorded process itself.
    ///   - row: a child's number in the recording.
    init(
        _ pid: Int32, _ sampled: ChildIndex?, at row: ChildIndex? = nil, _ output: RecordingOutput
    ) {
        self.pid = pid
        child = row
        self.output = output
        slices = SliceBuilder(unwinder: output.unwinder(of: sampled), stacks: output.stacks)
        output.held.begin(pid)
        expectScripts()
    }

    /// Prepares for JavaScript: the program may be Node.
    private func expectScripts() {
        guard let start = output.nodeStart else { return }
        slices.add(NodeStacks(pid, since: start, output.held, output.functions))
    }

    /// Call it before newer events come.
    func expectMore() { slices.expectScripts() }

    /// - Returns: the stack that must be refined by registers, if any.
    func take(_ event: SamplerEvent) throws(RecordingError) -> StackRefinement? {
        guard let event = threads.renumbered(event) else { return nil }
        let file = output.file
        switch event {
        case .began: break
        case .image(let image):
            slices.leaveImage(into: &finished)
            output.held.look(at: pid)
            expectScripts()
            self.image = image
            try file.append(image, of: child)
        case .linked(let image):
            self.image = image
            try file.append(image, of: child)
        case .border(let border):
            try file.append(border, of: child)
            if border.kind == .ended {
                output.schedule.expectEnd(
                    of: threads.rows.map { ($0.thread.tid, $0.place) }, at: border.time)
            }
        case .threadStarted(var thread):
            thread.child = child
            threads.add(thread, at: try output.add(thread))
            facts.threads = threads.count
        case .threadNamed(let index, let name):
            try update(index) { $0.name = name }
        case .threadEnded(let index, let time):
            try update(index) { $0.end = time }
        case .mappings(let code, let time):
            try take(code, at: time)
        case .interpreter(let found):
            slices.add(found, output.functions)
        case .named(let names):
            slices.add(names)
        case .sample(let sample):
            var refinement = slices.add(try withKernel(sample), into: &finished)
            if let thread = refinement?.thread {
                refinement?.thread = threads[thread]?.sampled ?? thread
            }
            return refinement
        case .wait(let wait):
            let stack = slices.stack(of: wait.thread)
            if var wait = facts.wait(wait, stack: stack) {
                wait.thread = place(of: wait.thread)
                output.add(wait)
            }
        case .priority(let priority):
            guard var priority = facts.priority(priority) else { break }
            threads[priority.thread]?.priority = priority
            priority.thread = place(of: priority.thread)
            try file.append(priority)
        case .library(let library):
            var load = facts.library(library, pid: pid, slices: &slices)
            load?.child = child
            try output.writeNewStacks()
            if let load { try file.append(load) }
        case .initializer(let initializer):
            let run = facts.initializer(initializer, slices: &slices)
            try write(run.map { [$0] } ?? [])
        case .interval(let interval):
            guard var interval = facts.interval(interval) else { break }
            interval.thread = interval.thread.map(place)
            interval.child = child
            try file.append(interval)
        case .signpost(let signpost):
            guard var signpost = facts.signpost(signpost) else { break }
            signpost.thread = signpost.thread.map(place)
            signpost.child = child
            try file.append(signpost)
        case .ready(let ready):
            guard let ready = facts.readiness(ready, isFirst: !isReady) else { break }
            isReady = true
            try file.append(ready)
        case .scheduled(let records): output.schedule.add(records)
        }
        return nil
    }

    /// Hands over the slices that are complete.
    func handOver() {
        guard !finished.isEmpty else { return }
        for index in finished.indices { finished[index].thread = place(of: finished[index].thread) }
        output.add(finished)
        finished.removeAll(keepingCapacity: true)
    }

    /// Says that no more events will come.
    func finish() throws(RecordingError) {
        finished += slices.flush()
        handOver()
        try output.writeFinished()
        try write(facts.placed(slices: &slices, evenUnknown: true))
    }

    // MARK: The next part of the recording

    /// Continues in another file, and writes the current state there. Threads that have ended are
    /// left out, except those on which the scheduler may still report something.
    ///
    /// - Parameter row: a child's number there.
    /// - Returns: the threads' numbers there.
    func move(
        to next: RecordingOutput, at time: MonotonicTime, _ row: ChildIndex? = nil
    ) throws(RecordingError) -> [ThreadIndex: ThreadIndex] {
        let former = threads.rows.map(\.place)
        let kept = threads.keep { thread in
            thread.end.map { time - $0 < Self.schedulersDelay } ?? true
        }
        slices.move(to: next.stacks, keeping: kept)
        output = next
        child = row
        if var image {
            image.time = time
            try next.file.append(image, of: child)
        }
        try next.file.append(LaunchBorder(kind: .attached, time: time), of: child)
        var numbers: [ThreadIndex: ThreadIndex] = [:]
        for (number, old) in kept.enumerated() {
            let index = ThreadIndex(number)
            guard var row = threads[index] else { continue }
            row.thread.child = child
            row.place = try next.add(row.thread)
            threads[index] = row
            numbers[former[old.rawValue]] = row.place
            guard var priority = row.priority else { continue }
            (priority.thread, priority.time) = (row.place, time)
            try next.file.append(priority)
        }
        facts.threads = threads.count
        // The mapped files themselves, even if their paths name other files now.
        for var mapping in slices.unwinder.mappings(at: time) {
            mapping.child = child
            try next.file.append(mapping)
        }
        return numbers
    }

    /// The threads' numbers in the recording.
    var places: [ThreadIndex] { threads.rows.map(\.place) }

    /// Hands over the complete slices, before the recording continues in another file.
    func handOverAll() throws(RecordingError) {
        for (number, row) in threads.rows.enumerated() where row.thread.end != nil {
            slices.flush(ThreadIndex(number), into: &finished)
        }
        handOver()
        try write(facts.placed(slices: &slices, evenUnknown: true))
    }

    /// How late the scheduler may report. It is a tick or two, and more on a busy machine.
    private static let schedulersDelay = TimeSpan.milliseconds(2_000)

    private static let nowhere = ThreadIndex(-1)

    private func place(of thread: ThreadIndex) -> ThreadIndex {
        threads[thread]?.place ?? Self.nowhere
    }

    private func update(
        _ index: ThreadIndex, _ change: (inout RecordedThread) -> Void
    ) throws(RecordingError) {
        guard var row = threads[index] else { return }
        change(&row.thread)
        threads[index] = row
        try output.file.update(row.thread, at: row.place)
    }

    /// The sample, once the mappings of the kernel's code have been written. If the kernel hides
    /// its code, the sample has no kernel part, because its addresses could not be named.
    private func withKernel(_ sample: Sample) throws(RecordingError) -> Sample {
        guard case .snapshot(var snapshot) = sample.content, !snapshot.kernelChain.isEmpty else {
            return sample
        }
        if output.kernelCode.isEmpty {
            var result = sample
            snapshot.kernelChain = []
            result.content = .snapshot(snapshot)
            return result
        }
        if !knowsKernel {
            knowsKernel = true
            try take(code, at: sample.start)
        }
        return sample
    }

    private func take(_ code: [CodeMapping], at time: MonotonicTime) throws(RecordingError) {
        self.code = code
        if code.contains(where: \.isMemory) { output.held.look(at: pid) }
        let added = slices.unwinder.update(
            code + (knowsKernel ? output.kernelCode : []), at: time, openAlternative: otherPaths,
            memory: ProcessMemory(TargetMemory(pid: pid)).bytes)
        let firstNew = try output.writeNewModules()
        let modules = slices.unwinder.modules
        for var mapping in added {
            mapping.child = child
            try output.file.append(mapping)
            guard mapping.module.rawValue >= firstNew,
                let source = code.first(where: { $0.start == mapping.start })
            else { continue }
            output.held.keep(
                modules[mapping.module.rawValue], source, of: pid, paths: otherPaths(source))
        }
        try write(facts.placed(slices: &slices))
    }

    /// Paths to the mapped file itself, which work even if its own path now names another file.
    private func otherPaths(_ mapping: CodeMapping) -> [String] {
        let (start, end) = (String(mapping.start, radix: 16), String(mapping.end, radix: 16))
        guard mapping.inode != 0 else { return [] }
        return [
            "/proc/\(pid)/map_files/\(start)-\(end)",
            // This needs no privilege where a program was executed from memory.
            mapping.isMemory ? "/proc/\(pid)/exe" : "/proc/\(pid)/root\(mapping.path)",
        ]
    }

    private func write(_ runs: [InitializerRun]) throws(RecordingError) {
        try output.write(
            runs.map { run in
                var run = run
                run.thread = place(of: run.thread)
                return run
            })
    }
}
