import Architecture
import Glibc
import ProfileModel
import Sampler
import Synchronization
import System

/// The bounded queue between two threads: the sampling thread, which must never wait, and the one
/// that unwinds and writes. When it is full, stacks are dropped and counted; times never are.
///
/// Unsafe code: the mutex and the condition live at a fixed address, as pthread wants it. All other
/// state is atomic, or touched only with the mutex held.
final class EventQueue: SampleSink, @unchecked Sendable {
    /// How many bytes of stacks and signposts may wait.
    static let usualCapacity = 64 << 20
    private let capacity: Int
    /// Above this level the reader is woken at once. Below it, the reader looks by itself.
    private let wakeLevel: Int
    private static let usualWakeLevel = 4 << 20
    /// The batch's memory is kept for at most this many events.
    private static let usualEvents = 8192

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var events: [QueuedEvent] = []
    private var bytes = 0
    private var schedule = LookSchedule(lastLook: .now)
    /// True if the reader looks at the end of the short period in any case. Then it need not be
    /// woken.
    private var looksSoon = true
    private var isFinished = false
    private var refinements: [ChildIndex?: [StackRefinement]] = [:]
    private(set) var lostSamples: Int64 = 0
    private(set) var lostSignposts: Int64 = 0
    // Read at every tick, and hardly ever set: a lock would be wasteful.
    private let hasRefinements = Atomic(false)
    private let failed = Atomic(false)

    /// - Parameter capacity: less where memory is limited, because a busy machine uses all of it.
    init(capacity: Int = usualCapacity) {
        self.capacity = capacity
        wakeLevel = min(Self.usualWakeLevel, capacity / 2)
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
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

    func receive(_ event: SamplerEvent) { receive(event, of: nil) }

    /// A child began or ended.
    func receive(_ news: ChildNews) {
        locked { events.append(.child(news)) }
    }

    /// - Parameter child: the child that the event belongs to; nil: the recorded process.
    func receive(_ event: SamplerEvent, of child: ChildIndex?) {
        let size = event.boundedSize
        let isUrgent = event.isUrgent
        locked {
            if schedule.first == nil { schedule.first = .now }
            if size > 0, bytes + size > capacity {
                if case .mappings = event {
                    replaceMappings(of: child)
                    bytes += size
                    events.append(.observed(event, of: child))
                } else if let rest = event.withoutStack {
                    if event.hasStack { lostSamples += 1 }
                    events.append(.observed(rest, of: child))
                } else {
                    lostSignposts += 1
                }
            } else {
                bytes += size
                events.append(.observed(event, of: child))
            }
            let mustWake = isUrgent && !schedule.isUrgent && !looksSoon
            if isUrgent { schedule.isUrgent = true }
            if mustWake || bytes >= wakeLevel { pthread_cond_signal(condition) }
        }
    }

    /// Drops the child's list of mappings that is still in the queue, because the next such event
    /// has all mappings.
    private func replaceMappings(of child: ChildIndex?) {
        let last = events.lastIndex { event in
            if case .observed(.mappings, child) = event { true } else { false }
        }
        guard let last, case .observed(let event, _) = events.remove(at: last) else { return }
        bytes -= event.boundedSize
    }

    func takeRefinements() -> [StackRefinement] { takeRefinements(of: nil) }

    func takeRefinements(of child: ChildIndex?) -> [StackRefinement] {
        guard hasRefinements.load(ordering: .acquiring) else { return [] }
        return locked {
            let found = refinements.removeValue(forKey: child) ?? []
            hasRefinements.store(!refinements.isEmpty, ordering: .relaxed)
            return found
        }
    }

    var hasFailed: Bool { failed.load(ordering: .relaxed) }

    // MARK: The recording thread's side

    /// Says that no more events will come.
    func finish() {
        locked {
            isFinished = true
            pthread_cond_signal(condition)
        }
    }

    /// Waits a while for events.
    ///
    /// - Parameter batch: its contents are replaced by the events since the last call; its memory
    ///   is used again.
    /// - Returns: false at the end.
    func next(into batch: inout [QueuedEvent]) -> Bool {
        batch.removeAll(keepingCapacity: batch.capacity <= Self.usualEvents)
        return locked {
            while waitsOn() {}
            schedule.looked(at: .now, foundEvents: !events.isEmpty)
            swap(&events, &batch)
            bytes = 0
            return !(batch.isEmpty && isFinished)
        }
    }

    /// Waits until the next look is due, or something happens. Returns false if the look is due.
    private func waitsOn() -> Bool {
        if isFinished || bytes >= wakeLevel { return false }
        let now = MonotonicTime.now
        let due = schedule.due(at: now)
        looksSoon = schedule.looksSoon(at: now)
        guard due > now else { return false }
        var until = timespec()
        until.tv_sec = Int(due.nanoseconds / 1_000_000_000)
        until.tv_nsec = Int(due.nanoseconds % 1_000_000_000)
        pthread_cond_timedwait(condition, mutex, &until)
        return true
    }

    /// - Parameter child: the child that the thread belongs to; nil: the recorded process.
    func add(_ refinement: StackRefinement, of child: ChildIndex? = nil) {
        locked {
            refinements[child, default: []].append(refinement)
            hasRefinements.store(true, ordering: .releasing)
        }
    }

    /// Drops the refinements of a child that has ended: its sampler takes no more.
    func dropRefinements(of child: ChildIndex) {
        locked {
            guard refinements.removeValue(forKey: child) != nil else { return }
            hasRefinements.store(!refinements.isEmpty, ordering: .releasing)
        }
    }

    /// Tells the sampler that recording cannot go on.
    func fail() { failed.store(true, ordering: .relaxed) }
}

/// An event that waits to be written.
enum QueuedEvent: Sendable {
    /// - Parameter of: nil: the recorded process.
    case observed(SamplerEvent, of: ChildIndex?)
    case child(ChildNews)
}

/// Events in the life of a child.
enum ChildNews: Sendable {
    /// The child of the next index.
    case began(ChildProcess)
    case ended(ChildIndex, SamplerOutcome, at: MonotonicTime)
}

extension SamplerEvent {
    /// The room that the event takes in the queue, in bytes; 0 for events that are always accepted.
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
        case .mappings(let code, _):
            return code.reduce(0) { $0 + MemoryLayout<CodeMapping>.stride + $1.path.utf8.count }
        default: return 0
        }
    }

    /// True if something must be done soon: asking a blocked thread for the registers that its
    /// stack needs for unwinding, or opening one of the program's files while it exists.
    fileprivate var isUrgent: Bool {
        switch self {
        case .sample(let sample):
            guard sample.blocking != 0, case .snapshot(let snapshot) = sample.content else {
                return false
            }
            return snapshot.registers.framePointer == nil
        case .began, .image, .linked, .border, .mappings, .library, .ready: return true
        case .threadStarted, .threadNamed, .threadEnded, .wait, .priority, .initializer,
            .interval, .signpost, .scheduled, .interpreter, .named:
            return false
        }
    }

    /// The size without the texts.
    private static let signpostSize = MemoryLayout<SamplerEvent>.stride

    fileprivate var hasStack: Bool {
        if case .scheduled = self { false } else { true }
    }

    /// The event without the part that takes most room; nil: nothing is left of it.
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

/// When the reader of the ``EventQueue`` looks next.
struct LookSchedule {
    /// How often the reader looks when no thread waits for an answer. A reader that wakes up with cold
    /// caches costs more than the samples of 10 ms do. A longer period would gain little more.
    static let period = TimeSpan.milliseconds(50)
    /// How soon it looks again when a thread waits for an answer: soon enough to answer while the
    /// thread still blocks, seldom enough to leave the cores to the program.
    static let shortPeriod = TimeSpan.milliseconds(10)

    private var lastLook: MonotonicTime
    /// When the first event came.
    var first: MonotonicTime?
    /// Whether one of the events must not wait for the whole of the ``period``.
    var isUrgent = false
    /// Whether the batch before had an urgent event. Then the next one often has one, too.
    private var wasUrgent = false
    /// Whether any event has come yet. The first events come while a program is stopped at its
    /// first instruction, and the reader should not be woken then.
    private var hasBegun = false

    init(lastLook: MonotonicTime) { self.lastLook = lastLook }

    mutating func looked(at now: MonotonicTime, foundEvents: Bool) {
        lastLook = now
        (wasUrgent, isUrgent) = (isUrgent, false)
        hasBegun = hasBegun || foundEvents
    }

    /// True if the next look comes at the end of the short period in any case.
    func looksSoon(at now: MonotonicTime) -> Bool {
        (isUrgent || wasUrgent) && now < lastLook + Self.shortPeriod || !hasBegun
    }

    func due(at now: MonotonicTime) -> MonotonicTime {
        guard hasBegun else { return first.map { $0 + Self.period } ?? now + Self.shortPeriod }
        return lastLook + (isUrgent || looksSoon(at: now) ? Self.shortPeriod : Self.period)
    }
}
