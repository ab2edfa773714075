import ProfileModel
import Recording
import Sampler
import Unwind

/// One process's observations on their way into the recording: unwound, mended, and with the
/// numbers that its threads have there.
final class ObservedProcess {
    let pid: Int32
    /// nil: the recorded process itself.
    private let child: ChildIndex?
    private let output: RecordingOutput
    /// What the process itself has mapped.
    private var code: [CodeMapping] = []
    /// Whether the unwinder knows the kernel's code, too.
    private var knowsKernel = false
    private var slices: SliceBuilder
    private var finished: [Slice] = []
    private var facts = FactBuilder()
    private var isReady = false
    private var threads: [RecordedThread] = []
    /// The numbers of `threads` in the recording.
    private var places: [ThreadIndex] = []
    /// Of the program that runs, as ``Image/name``.
    private(set) var name = ""

    init(_ pid: Int32, _ child: ChildIndex?, _ output: RecordingOutput) {
        self.pid = pid
        self.child = child
        self.output = output
        slices = SliceBuilder(
            unwinder: Unwinder(
                files: output.modules, process: child?.rawValue, engine: output.engine,
                opinion: output.opinion),
            stacks: output.stacks)
        output.held.begin(pid)
    }

    /// - Returns: a request for registers, where they are needed.
    func take(_ event: SamplerEvent) throws(RecordingError) -> StackRequest? {
        let file = output.file
        switch event {
        case .began: break
        case .image(let image):
            slices.leaveImage(into: &finished)
            name = String(image.name)
            try file.append(image, of: child)
        case .mark(let mark):
            try file.append(mark, of: child)
            if mark.kind == .ended {
                output.schedule.expectEnd(
                    of: zip(threads, places).map { ($0.tid, $1) }, at: mark.time)
            }
        case .threadStarted(var thread):
            thread.child = child
            places.append(try output.add(thread))
            threads.append(thread)
            facts.threads = threads.count
        case .threadNamed(let index, let name):
            try update(index) { $0.name = name }
        case .threadEnded(let index, let time):
            try update(index) { $0.end = time }
        case .mappings(let code, let time):
            try take(code, at: time)
        case .sample(let sample):
            return slices.add(try withKernel(sample), into: &finished)
        case .wait(let wait):
            let stack = slices.stack(of: wait.thread)
            if var wait = facts.wait(wait, stack: stack) {
                wait.thread = place(of: wait.thread)
                output.add(wait)
            }
        case .priority(let priority):
            guard var priority = facts.priority(priority) else { break }
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

    /// What is ready of its slices.
    func handOver() {
        guard !finished.isEmpty else { return }
        for index in finished.indices { finished[index].thread = place(of: finished[index].thread) }
        output.add(finished)
        finished.removeAll(keepingCapacity: true)
    }

    /// Nothing more comes.
    func finish() throws(RecordingError) {
        finished += slices.flush()
        handOver()
        try output.writeFinished()
        try write(facts.placed(slices: &slices, evenUnknown: true))
    }

    private static let nowhere = ThreadIndex(-1)

    private func place(of thread: ThreadIndex) -> ThreadIndex {
        places.indices.contains(thread.rawValue) ? places[thread.rawValue] : Self.nowhere
    }

    private func update(
        _ index: ThreadIndex, _ change: (inout RecordedThread) -> Void
    ) throws(RecordingError) {
        guard threads.indices.contains(index.rawValue) else { return }
        change(&threads[index.rawValue])
        try output.file.update(threads[index.rawValue], at: place(of: index))
    }

    /// The kernel's part of a stack is told where that lies, and left out where that is hidden: nobody
    /// could name it.
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
        let added = slices.unwinder.update(
            code + (knowsKernel ? output.kernelCode : []), at: time, openAlternative: otherPaths)
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

    /// The mapped file itself, also when its path names another one by now.
    private func otherPaths(_ mapping: CodeMapping) -> [String] {
        let (start, end) = (String(mapping.start, radix: 16), String(mapping.end, radix: 16))
        return [
            "/proc/\(pid)/map_files/\(start)-\(end)", "/proc/\(pid)/root\(mapping.path)",
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
