import ProfileModel

/// The scheduler's reports on a thread since the last look. Once a thread has ended and `/proc` has
/// forgotten it, nothing else shows its last moments.
struct CoreTally: Hashable, Sendable {
    private enum State: Hashable {
        case unknown
        case running
        case wantsCore
        case waiting
    }

    private var state = State.unknown
    private var since = MonotonicTime(nanoseconds: 0)
    private(set) var running = TimeSpan.zero
    private(set) var wantedCore = TimeSpan.zero
    /// Whether it gave up its core by itself.
    private(set) var hasWaited = false
    /// When it ended.
    private(set) var end: MonotonicTime?
    /// Whether the thread got a core, left one or ended since the last look.
    private var hasSwitched = false

    /// Whether the thread waited at the last look and has waited since.
    var isAsleep: Bool { state == .waiting && !hasSwitched }

    /// Whether the thread had a core at the last look, or wanted one, and nothing has changed since.
    var isAtWork: Bool { (state == .running || state == .wantsCore) && !hasSwitched }

    /// A look has reported all that happened so far.
    mutating func restart() {
        running = .zero
        wantedCore = .zero
        hasWaited = false
        hasSwitched = false
    }

    /// Takes the thread's next record.
    ///
    /// - Parameter look: the time of the last look. The time before it is known better.
    mutating func take(_ record: SchedulerRecord, after look: MonotonicTime) {
        if record.time > look { hasSwitched = true }
        switch record.kind {
        case .began: change(to: .wantsCore, record.time, look)
        case .arrived:
            // Another thread, which executes a program, may have its id now.
            end = nil
            change(to: .running, record.time, look, before: .wantsCore)
        case .left(.pushed, _): change(to: .wantsCore, record.time, look, before: .running)
        case .left(.waiting, _):
            change(to: .waiting, record.time, look, before: .running)
            if record.time > look { hasWaited = true }
        case .woken where state != .running:
            change(to: .wantsCore, record.time, look, before: .waiting)
        case .woken, .watched: break
        case .lost: (state, since) = (.unknown, record.time)
        case .ended:
            change(to: .unknown, record.time, look, before: .running)
            end = record.time
        }
    }

    /// - Parameter before: the state that it must have been in until then, if that is not known.
    private mutating func change(
        to next: State, _ time: MonotonicTime, _ look: MonotonicTime, before: State = .unknown
    ) {
        let span = max(.zero, time - max(since, look))
        switch state == .unknown ? before : state {
        case .running: running = running + span
        case .wantsCore: wantedCore = wantedCore + span
        case .waiting, .unknown: break
        }
        (state, since) = (next, time)
    }
}
