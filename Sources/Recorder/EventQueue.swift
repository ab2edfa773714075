import Glibc
import ProfileModel
import Sampler

/// The bounded queue between the sampling thread, which must never wait, and the thread that
/// unwinds and writes. When it is full, stacks are dropped and counted; times never are.
///
/// Unsafe code: the mutex and the condition live at a fixed address, as pthread wants it; all
/// other state is touched with the mutex held.
final class EventQueue: SampleSink, @unchecked Sendable {
    /// How many bytes of stacks and signposts may wait.
    private static let capacity = 64 << 20
    /// From here on the reader is woken at once; below it looks by itself.
    private static let wakeLevel = 4 << 20
    /// How often it looks, in nanoseconds: often enough to answer while a thread still blocks,
    /// seldom enough to leave the cores to the program.
    private static let period = 10_000_000

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var events: [SamplerEvent] = []
    private var bytes = 0
    private var isFinished = false
    private var requests: [StackRequest] = []
    private var failed = false
    private(set) var lostSamples: Int64 = 0
    private(set) var lostSignposts: Int64 = 0

    init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    private func locked<Value>(_ body: () -> Value) -> Value {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    // MARK: The sampling thread's side

    func receive(_ event: SamplerEvent) {
        let size = event.boundedSize
        locked {
            if size > 0, bytes + size > Self.capacity {
                if let rest = event.withoutStack {
                    if event.hasStack { lostSamples += 1 }
                    events.append(rest)
                } else {
                    lostSignposts += 1
                }
            } else {
                bytes += size
                events.append(event)
            }
            if bytes >= Self.wakeLevel { pthread_cond_signal(condition) }
        }
    }

    func takeRequests() -> [StackRequest] {
        locked {
            defer { requests.removeAll(keepingCapacity: true) }
            return requests
        }
    }

    var hasFailed: Bool { locked { failed } }

    // MARK: The other side

    /// No more events come.
    func finish() {
        locked {
            isFinished = true
            pthread_cond_signal(condition)
        }
    }

    /// The events since the last call, after a while; nil at the end.
    func next() -> [SamplerEvent]? {
        locked {
            if events.isEmpty, !isFinished { waitAWhile() }
            if events.isEmpty, isFinished { return nil }
            defer {
                events = []
                bytes = 0
            }
            return events
        }
    }

    private func waitAWhile() {
        var until = timespec()
        clock_gettime(CLOCK_REALTIME, &until)
        until.tv_nsec += Self.period
        if until.tv_nsec >= 1_000_000_000 {
            until.tv_nsec -= 1_000_000_000
            until.tv_sec += 1
        }
        pthread_cond_timedwait(condition, mutex, &until)
    }

    func request(_ request: StackRequest) { locked { requests.append(request) } }

    /// Tells the sampler that recording cannot go on.
    func fail() { locked { failed = true } }
}

extension SamplerEvent {
    /// What it takes of the queue's room, in bytes; 0 for what is always let in.
    fileprivate var boundedSize: Int {
        switch self {
        case .sample(let sample):
            guard case .snapshot(let snapshot) = sample.content else { return 0 }
            return snapshot.byteCount
        case .library(let library): return library.caller?.byteCount ?? 0
        case .interval(let interval):
            return Self.signpostSize + interval.name.utf8.count + interval.category.utf8.count
                + interval.subsystem.utf8.count
        case .signpost(let signpost):
            return Self.signpostSize + signpost.name.utf8.count + signpost.category.utf8.count
                + signpost.subsystem.utf8.count
        case .scheduled(let records):
            return records.count * MemoryLayout<SchedulerRecord>.stride
        default: return 0
        }
    }

    /// Without its texts.
    private static let signpostSize = MemoryLayout<SamplerEvent>.stride

    fileprivate var hasStack: Bool {
        if case .scheduled = self { false } else { true }
    }

    /// nil where nothing is left of it without what takes the room.
    fileprivate var withoutStack: SamplerEvent? {
        switch self {
        case .sample(var sample):
            sample.content = .missing(.lost)
            return .sample(sample)
        case .library(var library):
            library.caller = nil
            return .library(library)
        case .interval, .signpost: return nil
        case .scheduled(let records):
            guard let first = records.map(\.time).min(), let last = records.map(\.time).max()
            else { return nil }
            return .scheduled([SchedulerRecord(last, 0, .lost(since: first))])
        default: return self
        }
    }
}
