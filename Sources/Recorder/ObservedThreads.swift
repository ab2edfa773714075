import ProfileModel
import Sampler

/// A process's threads, by numbers that count from 0 without gaps. They equal the sampler's numbers as
/// long as no ended thread was left out.
struct ObservedThreads {
    struct Row {
        var thread: RecordedThread
        /// Its number in the recording.
        var place: ThreadIndex
        /// The sampler's number for it.
        let sampled: ThreadIndex
        var priority: Priority?
    }

    private(set) var rows: [Row] = []
    private var started = 0
    /// Our numbers by the sampler's; nil: they are the same.
    private var numbers: [ThreadIndex: ThreadIndex]?

    var count: Int { rows.count }

    /// The thread that started last.
    mutating func add(_ thread: RecordedThread, at place: ThreadIndex) {
        let sampled = ThreadIndex(started)
        started += 1
        numbers?[sampled] = ThreadIndex(rows.count)
        rows.append(Row(thread: thread, place: place, sampled: sampled))
    }

    subscript(thread: ThreadIndex) -> Row? {
        get { rows.indices.contains(thread.rawValue) ? rows[thread.rawValue] : nil }
        set {
            guard rows.indices.contains(thread.rawValue), let newValue else { return }
            rows[thread.rawValue] = newValue
        }
    }

    /// - Returns: the numbers that the kept threads had.
    mutating func keep(_ isKept: (RecordedThread) -> Bool) -> [ThreadIndex] {
        let kept = rows.indices.filter { isKept(rows[$0].thread) }
        rows = kept.map { rows[$0] }
        numbers = Dictionary(
            rows.enumerated().map { ($1.sampled, ThreadIndex($0)) }, uniquingKeysWith: { $1 })
        return kept.map { ThreadIndex($0) }
    }

    /// An event with our numbers in place of the sampler's; nil: its thread was left out.
    func renumbered(_ event: SamplerEvent) -> SamplerEvent? {
        guard let numbers else { return event }
        switch event {
        case .threadNamed(let thread, let name):
            return numbers[thread].map { .threadNamed($0, name) }
        case .threadEnded(let thread, let time):
            return numbers[thread].map { .threadEnded($0, time) }
        case .sample(var sample):
            guard let number = numbers[sample.thread] else { return nil }
            sample.thread = number
            return .sample(sample)
        case .wait(var wait):
            guard let number = numbers[wait.thread] else { return nil }
            wait.thread = number
            return .wait(wait)
        case .priority(var priority):
            guard let number = numbers[priority.thread] else { return nil }
            priority.thread = number
            return .priority(priority)
        case .initializer(var run):
            guard let number = numbers[run.thread] else { return nil }
            run.thread = number
            return .initializer(run)
        case .interval(var interval):
            interval.thread = interval.thread.flatMap { numbers[$0] }
            return .interval(interval)
        case .signpost(var signpost):
            signpost.thread = signpost.thread.flatMap { numbers[$0] }
            return .signpost(signpost)
        case .began, .image, .linked, .border, .threadStarted, .mappings, .interpreter, .named,
            .library, .ready, .scheduled:
            return event
        }
    }
}
